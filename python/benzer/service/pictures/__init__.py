"""How is a picture shown, of which an index keeps a description only? By a small copy.

`copies` makes them, `thumbnails` keeps them beside the index.
"""
