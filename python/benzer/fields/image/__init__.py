"""Field type for images.

| module | contents |
|---|---|
| `reading` | reads an image: upright, over white, in RGB |
| `field` | the field type `Image` |
| `methods` | the interface of methods; `METHODS`, their registry |
| `grid`, `seed16`, `local` | one method each |
| `cells` | the brightness of each cell of a grid |
| `elements` | the numbers of elements |
"""

from __future__ import annotations

from benzer.fields.image.field import Image
from benzer.fields.image.methods import METHOD_THRESHOLDS, METHODS

__all__ = ["METHODS", "METHOD_THRESHOLDS", "Image"]
