"""Thumbnails of images, because an index stores only descriptions of them.

`copies` creates them, `thumbnails` stores them next to the index.
"""
