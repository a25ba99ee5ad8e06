"""Which text is the benchmark run on, and which of its documents are near-duplicates?

`python -m benchmarks.corpus` downloads documentation packages, extracts their text, cuts it into base
documents that share little with each other, plants near-duplicates and computes the exact similarity of every
planted pair.
"""
