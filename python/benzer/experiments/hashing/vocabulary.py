"""A vocabulary: small numbers for words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from benzer.errors import InputError


class Vocabulary:
    """A mapping between words and numbers: 0, 1, 2, ... in the order in which words first appear.

    Ids do not collide, unlike hashes, and are small, which suits `hashing.Universal`. They depend on the words seen
    before, so documents can be compared only if the same vocabulary has read all of them (Grattan 2014). A word is any
    string, without normalization. Uses about 150 bytes of memory per word.

    Args:
        words: The first words.

    >>> vocabulary = Vocabulary()
    >>> vocabulary.ids(["to", "be", "or", "not", "to", "be"])
    [0, 1, 2, 3, 0, 1]
    >>> vocabulary.words([3, 1])
    ['not', 'be']
    >>> len(vocabulary), vocabulary.bits
    (4, 2)
    """

    __slots__ = ("_ids", "_words")

    def __init__(self, words: Iterable[str] = ()) -> None:
        self._ids: dict[str, int] = {}
        self._words: list[str] = []
        self.ids(words)

    def ids(self, words: Iterable[str], *, grow: bool = True) -> list[int]:
        """Return the ids of words, including repeated ones.

        Args:
            words: Words to look up.
            grow: Whether a new word gets the next id.

        Returns:
            An id for each word.

        Raises:
            InputError: A word is not a string, or is new and `grow` is False.

        >>> Vocabulary(["to", "be"]).ids(["bee"], grow=False)
        Traceback (most recent call last):
        benzer.errors.InputError: the vocabulary of 2 words has no 'bee': use grow=True, or remove the word
        """
        if isinstance(words, str | bytes):
            raise InputError(f"words must be a collection of strings, got {words!r:.40}: put it in a list")
        return [self._id(word, grow) for word in words]

    def _id(self, word: str, grow: bool) -> int:
        number = self._ids.get(word)
        if number is not None:
            return number
        if not isinstance(word, str):
            raise InputError(f"a word must be str, got {type(word).__name__}: {word!r:.40}")
        if not grow:
            count = len(self._words)
            raise InputError(
                f"the vocabulary of {count} words has no {word!r}: use grow=True, or remove the word"
            )
        self._words.append(word)
        return self._ids.setdefault(word, len(self._ids))

    def words(self, ids: Iterable[int]) -> list[str]:
        """Return the words of ids; raise InputError for an unknown id."""
        return [self._word(number) for number in ids]

    def _word(self, number: int) -> str:
        if not 0 <= number < len(self._words):
            raise InputError(f"the vocabulary has ids below {len(self._words)}, got {number}")
        return self._words[number]

    @property
    def bits(self) -> int:
        """The smallest u with 2^u >= the number of words: the bits of an id.

        >>> Vocabulary(str(number) for number in range(20)).bits
        5
        """
        return max(0, len(self._words) - 1).bit_length()

    def to_list(self) -> list[str]:
        """Return all words, by id."""
        return list(self._words)

    @classmethod
    def from_list(cls, words: Sequence[str]) -> Vocabulary:
        """Return the vocabulary written by `to_list`.

        Args:
            words: The words by id.

        Raises:
            InputError: A word is repeated.

        >>> Vocabulary.from_list(["to", "be"]) == Vocabulary(["to", "be", "to"])
        True
        """
        made = cls(words)
        if len(made) != len(words):
            twice = next(word for number, word in enumerate(words) if made._ids[word] != number)
            raise InputError(
                f"each word of a vocabulary must be unique, but {twice!r} appears twice in the list"
            )
        return made

    def __len__(self) -> int:
        return len(self._words)

    def __contains__(self, word: object) -> bool:
        return word in self._ids

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self._words == other._words

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Vocabulary of {len(self)} words>"
