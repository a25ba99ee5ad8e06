"""Benchmarks of the cost and the quality of Benzer and other tools, on the same machine."""
