"""How is a collection asked for quotations? Which documents contain a text, stand in it, or share passages with it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from benzer.checks import is_number
from benzer.errors import SettingsError
from benzer.index.containment import Containment, ContainmentMatches
from benzer.index.fingerprints import Fingerprints, is_whole
from benzer.index.given import Query
from benzer.sketcher import Sketcher
from benzer.storage import Storage

if TYPE_CHECKING:
    from benzer.index.passages import PassageMatches


class Quoting(ABC):
    """What an index that files passages can be asked; `Index` inherits it, so that each file stays small."""

    _storage: Storage
    _sketcher: Sketcher
    _fingerprints: Fingerprints | None

    @abstractmethod
    def _queries(self, given: Iterable[Any], threads: int) -> list[Query]:
        """What is asked for, with fields that the schema has, and pictures read."""

    def find_containing(
        self, document: Any, threshold: float = 0.8, limit: int | None = 10, most: int | None = 10_000
    ) -> ContainmentMatches:
        """The documents that contain one: a page with boilerplate around it, a book that quotes it.

        Each containment is exact, and at least `threshold`. Needs an index with `passages`; a document is found
        if it shares a run of `passages.certain` words with the one asked for (of values: any), and often if a
        shorter one; of a shorter text the answer says so (`short`). `most` bounds how many are compared, those
        that share most first, and the answer says if it did; None compares all.

        >>> from benzer.index import Index, IndexSettings
        >>> with Index.open("memory:", IndexSettings(passages=True)) as index:
        ...     added = index.add({"page": "home about news the cat sat on the mat and looked at me and me login"})
        ...     match, = index.find_containing("The cat sat on the mat and looked at me.")
        ...     match.id, match.containment, round(match.similarity, 2)
        ('page', 1.0, 0.57)
        """
        return self._contained(document, threshold, limit, most, inward=False)

    def find_contained(
        self, document: Any, threshold: float = 0.8, limit: int | None = 10, most: int | None = 10_000
    ) -> ContainmentMatches:
        """The documents that stand in one, as `find_containing` finds those around it.

        One that stands in it word for word is always found, however short it is.

        >>> from benzer.index import Index, IndexSettings
        >>> with Index.open("memory:", IndexSettings(passages=True)) as index:
        ...     added = index.add({"quote": "the cat sat on the mat and looked at me"})
        ...     index.find_contained("home about news the cat sat on the mat and looked at me and me login")[0].id
        'quote'
        """
        return self._contained(document, threshold, limit, most, inward=True)

    def find_passages(
        self, document: Any, least_words: int = 8, limit: int | None = 10, most: int | None = 1000
    ) -> PassageMatches:
        """Which passages of a text stand anywhere in the collection, in which documents, and where there?

        `document`: as for `find_similar`; its text fields are looked at. `least_words`: of a passage; one of
        fewer than `passages.certain` words is found with less than certainty, unless it is a whole document. The
        answer lists `limit` documents, and says which share of the text stands in any document at all. For each
        text field at most `most` documents are read, those that share most first, and the answer says if more
        should have been.

        >>> from benzer.index import Index, IndexSettings
        >>> with Index.open("memory:", IndexSettings(passages=True)) as index:
        ...     added = index.add({"page": "home about news the cat sat on the mat and looked at me and me login"})
        ...     match, = index.find_passages("He wrote: the cat sat on the mat and looked at me!")
        ...     match.id, match.words, match.passages[0].a, match.passages[0].b
        ('page', 10, (10, 49), (16, 55))
        """
        from benzer.index.passages import PassageFinder

        check_reach(limit, most)
        if not is_whole(least_words, 1):
            raise SettingsError(f"least_words must be 1 or more, got {least_words}")
        finder = PassageFinder(self._sketcher, self._filed_passages())
        (query,) = self._queries([document], threads=1)
        return finder.find(self._storage, query, least_words, limit, most)

    def _contained(
        self, document: Any, threshold: float, limit: int | None, most: int | None, inward: bool
    ) -> ContainmentMatches:
        check_reach(limit, most)
        if not is_number(threshold) or not 0 < threshold <= 1:
            raise SettingsError(f"threshold must be in (0, 1], got {threshold}")
        comparison = Containment(self._sketcher, self._filed_passages(), inward)
        (query,) = self._queries([document], threads=1)
        return comparison.find(self._storage, query, threshold, limit, most)

    def _filed_passages(self) -> Fingerprints:
        if self._fingerprints is None:
            raise SettingsError(
                "this index files no passages: make it anew with IndexSettings(passages=True), or benzer index "
                "--passages"
            )
        return self._fingerprints


def check_reach(limit: Any, most: Any) -> None:
    """Refuse a number of matches, or of documents to read, that is none."""
    for name, value in {"limit": limit, "most": most}.items():
        if value is not None and not is_whole(value, 1):
            raise SettingsError(f"{name} must be 1 or more, or None for all, got {value}")
