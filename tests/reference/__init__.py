"""What does Benzer mean? The rules in plain Python, slowly; the native core must agree with them.

`text` reads a text into tokens and shingles, `hashing` makes 64-bit numbers of them, `minhash` sketches
a set of such numbers, `bands` files a signature, `similarity` compares exactly and clusters, `classical`
holds the hash families and views of the literature. Nothing here imports the package under test.
"""

from __future__ import annotations
