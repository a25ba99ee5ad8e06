"""Registries of variants by name, which import a variant on first use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

from benzer.errors import MissingExtraError, SettingsError


@dataclass(frozen=True, slots=True)
class Registry:
    """The variants of a type: each name is mapped to a dotted path `package.module:attribute`.

    >>> types = Registry("type", {"counted": "collections:Counter", "ordered": "collections:OrderedDict"})
    >>> types.load("counted").__name__
    'Counter'
    >>> types.load("sorted")
    Traceback (most recent call last):
    benzer.errors.SettingsError: there is no type "sorted": choose one of counted, ordered
    """

    noun: str
    paths: Mapping[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        """All names, sorted."""
        return tuple(sorted(self.paths))

    def load(self, name: str) -> Any:
        """Import and return the variant `name`; an unknown name is a `SettingsError` that lists all."""
        if name not in self.paths:
            raise SettingsError(f'there is no {self.noun} "{name}": choose one of {", ".join(self.names)}')
        module, _, attribute = self.paths[name].partition(":")
        return getattr(import_module(module), attribute)

    def add(self, name: str, path: str) -> None:
        """Register an additional variant by the path of an importable `package.module:attribute`.

        An existing name can only be registered again with its own path: otherwise the meaning of stored settings
        would change.

        >>> colours = Registry("colour", {"red": "collections:Counter"})
        >>> colours.add("blue", "collections:OrderedDict")
        >>> colours.names
        ('blue', 'red')
        >>> colours.add("red", "collections:OrderedDict")
        Traceback (most recent call last):
        benzer.errors.SettingsError: the colour "red" already exists as collections:Counter: use another name
        """
        if self.paths.get(name, path) != path:
            raise SettingsError(
                f'the {self.noun} "{name}" already exists as {self.paths[name]}: use another name'
            )
        object.__setattr__(self, "paths", {**self.paths, name: path})


def require(module: str, extra: str, purpose: str) -> ModuleType:
    """Import an optional dependency; if it is not installed, the error names the `pip install` command.

    >>> require("json", extra="parquet", purpose="Parquet files").__name__
    'json'
    >>> require("not_there", extra="x", purpose="X files")
    Traceback (most recent call last):
    benzer.errors.MissingExtraError: X files need not_there, which is not installed: pip install 'benzer[x]'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        missing = module.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != missing:
            raise
        message = f"{purpose} need {missing}, which is not installed: pip install 'benzer[{extra}]'"
        raise MissingExtraError(message) from error
