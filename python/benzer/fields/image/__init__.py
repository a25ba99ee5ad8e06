"""Field type for images.

| room | answers |
|---|---|
| `reading` | how a picture is read: upright, over white, in RGB |
| `field` | the field type `Image` |
| `methods` | what a method is; `METHODS`, their registry |
| `grid`, `seed16`, `local` | one method each |
| `cells` | how bright each cell of a grid is |
| `elements` | which number stands for an element |
"""

from __future__ import annotations

from benzer.fields.image.field import Image
from benzer.fields.image.methods import METHOD_THRESHOLDS, METHODS

__all__ = ["METHODS", "METHOD_THRESHOLDS", "Image"]
