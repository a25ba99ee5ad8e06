"""The run on Spark gives the answer of the local run."""
