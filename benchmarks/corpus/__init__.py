"""The texts of the benchmark, and their known near-duplicates.

`python -m benchmarks.corpus` downloads documentation packages, extracts their text, divides it into base documents
that share little with each other, plants near-duplicates and computes the exact similarity of every planted pair.
"""
