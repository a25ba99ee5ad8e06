"""Which set does a picture have? In whole numbers and fractions; a picture is rows of (red, green, blue)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from .hashing import K1, K3, MASK64, finish

Pixel = tuple[int, int, int]
Picture = Sequence[Sequence[Pixel]]
SIDE = 16


def grey(pixel: Pixel) -> Fraction:
    """0.299 R + 0.587 G + 0.114 B."""
    red, green, blue = pixel
    return Fraction(299 * red + 587 * green + 114 * blue, 1000)


def overlap(part: int, place: int, length: int) -> Fraction:
    """How much of pixel `place` lies in part `part` of 16 equal parts of a line of `length` pixels."""
    start, end = Fraction(part * length, SIDE), Fraction((part + 1) * length, SIDE)
    return max(Fraction(0), min(Fraction(place + 1), end) - max(Fraction(place), start))


def cells(picture: Picture) -> list[Fraction]:
    """The mean grey of 16 x 16 cells, row by row; a pixel counts by its share."""
    height, width = len(picture), len(picture[0])
    greys = [[grey(pixel) for pixel in row] for row in picture]
    found = []
    for part in range(SIDE):
        down = [(y, overlap(part, y, height)) for y in range(height) if overlap(part, y, height)]
        for across_part in range(SIDE):
            across = [(x, overlap(across_part, x, width)) for x in range(width)]
            total = sum(greys[y][x] * high * wide for y, high in down for x, wide in across if wide)
            found.append(total * SIDE * SIDE / (height * width))
    return found


def seed16(picture: Picture) -> set[tuple[int, int, int]]:
    """{(row, column, grey div 16)}: the source's image field."""
    return {(at // SIDE, at % SIDE, value.__floor__() // 16) for at, value in enumerate(cells(picture))}


def seed16_set(picture: Picture) -> list[int]:
    """The hashes of `seed16`, ascending."""
    numbers = [16 * (SIDE * row + column) + value for row, column, value in seed16(picture)]
    return sorted(element_hash(number) for number in numbers)


def is_flat_line(line: Sequence[Pixel]) -> bool:
    """All but the hundredth part at either end within 12 grey values."""
    greys = sorted(grey(pixel) for pixel in line)
    aside = len(greys) // 100
    return greys[-1 - aside] - greys[aside] <= 12


def without_borders(lines: Picture) -> Picture:
    """Without flat lines at both ends, at most 30 in 100 at each."""
    most = len(lines) * 30 // 100
    top = next((at for at in range(most) if not is_flat_line(lines[at])), most)
    bottom = next((at for at in range(most) if not is_flat_line(lines[-1 - at])), most)
    return lines[top : len(lines) - bottom]


def turned(picture: Picture) -> Picture:
    """Columns as rows."""
    return list(zip(*picture, strict=True))


def grid(picture: Picture) -> set[tuple[int, int, int]]:
    """{(cell, 0, sixth of its rank)} and {(cell, 1, the same moved by a half)}; empty without detail."""
    values = cells(turned(without_borders(turned(without_borders(picture)))))
    mean = sum(values) / len(values)
    if sum((value - mean) ** 2 for value in values) / len(values) < 16:
        return set()
    found = set()
    for cell, value in enumerate(values):
        below = sum(other < value for other in values)
        equal = sum(other == value for other in values)
        rank = Fraction(2 * below + equal, 2 * len(values))
        found |= {(cell, 0, (6 * rank).__floor__()), (cell, 1, (6 * rank + Fraction(1, 2)).__floor__())}
    return found


def grid_set(picture: Picture) -> list[int]:
    """The hashes of `grid`, ascending."""
    return sorted(element_hash(16 * cell + 8 * moved + level) for cell, moved, level in grid(picture))


def element_hash(number: int) -> int:
    """The hash of the 8 bytes of the number, as of a character shingle."""
    return finish((number * K1 + 8 * K3) & MASK64)
