"""Searches an index for containing and contained documents and for shared passages."""

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
    """The searches of `Index` that need stored passages."""

    _storage: Storage
    _sketcher: Sketcher
    _fingerprints: Fingerprints | None

    @abstractmethod
    def _queries(self, given: Iterable[Any], threads: int) -> list[Query]:
        """Convert queries to documents of the schema, with images described."""

    def find_containing(
        self, document: Any, threshold: float = 0.8, limit: int | None = 10, most: int | None = 10_000
    ) -> ContainmentMatches:
        """Find the documents that contain a document: a page with boilerplate around it, a book that quotes it.

        Requires an index with `passages`. A document is found if it shares a run of `passages.certain` words with
        the query (value sets: any value), and often if it shares a shorter run. `short` of the result lists the
        fields of the query that are shorter than that.

        Args:
            document: A text, a mapping of fields or a `Document`.
            threshold: Minimum containment of the query in the match, in (0, 1].
            limit: Maximum number of matches; None returns all.
            most: Maximum number of candidates to compare, those that share most first; None compares all.
                The result has the number of candidates and of compared documents.

        Returns:
            The matches with their exact containment, best first.

        Raises:
            SettingsError: The index has no passages, or an argument is out of range.

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
        """Find the documents that are contained in a document.

        A document that appears in it word for word is always found, whatever its length.

        Args:
            document: A text, a mapping of fields or a `Document`.
            threshold: Minimum containment of the match in the query, in (0, 1].
            limit: Maximum number of matches; None returns all.
            most: Maximum number of candidates to compare, as in `find_containing`.

        Returns:
            The matches with their exact containment, best first.

        Raises:
            SettingsError: The index has no passages, or an argument is out of range.

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
        """Find the passages of a text that appear in the documents of the index, and their positions.

        Args:
            document: A text, a mapping of fields or a `Document`; only text fields are searched.
            least_words: Minimum length of a passage in words. A passage of fewer than `passages.certain` words may
                be missed, unless it is a complete document.
            limit: Maximum number of documents in the result; None returns all.
            most: Maximum number of documents to read for each text field, those that share most first; None reads
                all. `unread` of the result counts the others.

        Returns:
            The documents with their passages, and the share of the text that appears in any document.

        Raises:
            SettingsError: The index has no passages, or an argument is out of range.
            InputError: The query has no text.

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
                "this index has no passages: create it again with IndexSettings(passages=True) or benzer index "
                "--passages"
            )
        return self._fingerprints


def check_reach(limit: Any, most: Any) -> None:
    """Refuse a number of matches, or of documents to read, that is none."""
    for name, value in {"limit": limit, "most": most}.items():
        if value is not None and not is_whole(value, 1):
            raise SettingsError(f"{name} must be 1 or more, or None for all, got {value}")
