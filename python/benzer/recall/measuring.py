"""Measures the recall of a run on a sample, whose true neighbours are found without bands."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benzer.bands import Bands
from benzer.buckets import LargeBuckets
from benzer.checks import check_seed, is_number
from benzer.corpora import DocumentCorpus
from benzer.errors import SettingsError
from benzer.fields import Schema
from benzer.fields.base import has_own_similarity
from benzer.recall.drawing import Positions, Words, chosen_neighbours, distinct, drawn, pair_keys
from benzer.recall.estimate import Missed, RecallEstimate
from benzer.recall.interval import clopper_pearson
from benzer.recall.neighbours import affordable, possible_neighbours
from benzer.verify import verify

Floats = NDArray[np.float64]

NO_BUCKETS = LargeBuckets()
MOST_DRAWN = 50_000
"""Documents whose neighbours are looked for at most: what they hold is in memory meanwhile."""
MOST_BYTES = 64_000_000
"""The texts of the drawn documents are at most about so long together: their shingles are in memory too."""
MOST_NEIGHBOURS = 2_000_000
"""Neighbours of drawn documents that are expected at most."""
PILOT = 32
PILOT_SEED = 0x6A09E667F3BCC909
EXAMPLES = 5


@dataclass(frozen=True)
class Reported:
    """The result of a run, by position.

    Attributes:
        content: The 128-bit content hash (uint64, n x 2).
        empty: Documents without shingles (bool, n).
        stands_for: The document that represents all documents with its content (uint32, n).
        left: The left document of each verified pair of representatives (uint32).
        right: The right document of each such pair (uint32).
        proposed: The similarities of those pairs that share a band (float64).
        stays: Which documents are kept (bool, n).
        cut_short: Number of buckets whose pairs were not all listed. If there is one, far more documents may be
            similar than was listed, and `RecallEstimate.predicted` is None, because the S-curve cannot be applied to
            the listed pairs.
        large: These buckets. Pairs that share one count as found: the rule of `benzer.families` applies to them.
    """

    content: Words
    empty: NDArray[np.bool_]
    stands_for: Positions
    left: Positions
    right: Positions
    proposed: Floats
    stays: NDArray[np.bool_]
    cut_short: int = 0
    large: LargeBuckets = NO_BUCKETS


def measure(
    corpus: DocumentCorpus,
    reported: Reported,
    schema: Schema,
    threshold: float,
    bands: Bands | None = None,
    *,
    seed: int = 0,
    confidence: float = 0.95,
    documents: int = 1000,
    threads: int = 0,
) -> RecallEstimate:
    """Estimate the recall of a run, from documents whose neighbours are searched again without bands.

    Documents with different contents are drawn in the order of a seeded hash of their content, which is independent
    of order, bands and threads. The exact neighbours of each are searched in the whole corpus until `documents`
    documents have a neighbour. For each of those, one neighbour is selected by a hash, and the run has found it or
    not. So the answers are independent draws whose mean is the recall, and the interval of Clopper and Pearson
    contains it with at least the confidence. (The draws are without replacement, which narrows the true interval.)
    Families of similar documents do not narrow the interval, as they would if their pairs were counted.

    If a field has a similarity of its own, such as images with the method `local`, a drawn document is compared with
    every other one that can reach the threshold (see `possible_neighbours`), not only with those that bands can find.
    As many documents are drawn as about 300,000 comparisons allow, but at least 20.

    Reads all shingles of the corpus once, and twice if few documents have a near-duplicate.

    Args:
        corpus: The documents of the run.
        reported: The result of the run.
        schema: Fields and weights.
        threshold: The threshold of the run.
        bands: The bands of the run; None for the exact method.
        seed: Seed of the draw.
        confidence: Confidence of the interval, in (0, 1).
        documents: Number of documents with a neighbour to test.
        threads: Number of threads; 0 uses all cores. Does not affect the result.

    Returns:
        The recall with its interval.

    Raises:
        SettingsError: `confidence` is not in (0, 1), or `documents` is below 1.
    """
    check_sample(documents, confidence, seed)
    survey = _Survey(corpus, reported, schema, threshold, seed, threads)
    counts = survey.counts()
    most = min(counts.most(survey.pilot), affordable(schema, counts.contents))
    answers = sample_until(int(documents), counts, most, survey.ask)
    expected = predicted(*np.unique(np.floor(reported.proposed * 1000), return_counts=True), bands, schema)
    return estimated(counts, answers, confidence, expected, _examples(survey, answers))


def check_sample(documents: int, confidence: float, seed: int = 0) -> None:
    """Raise an error for a number of documents, a confidence or a seed that is out of range."""
    check_seed(seed)
    if not is_number(confidence) or not 0 < confidence < 1:
        raise SettingsError(f"confidence must be in (0, 1), got {confidence}: try 0.95")
    if not is_number(documents) or not documents >= 1 or documents % 1 != 0:
        raise SettingsError(f"documents must be a whole number of at least 1, got {documents}: try 1000")


class Answers(NamedTuple):
    """The true neighbours of the drawn documents, one entry per pair.

    Attributes:
        query: The position in the draw (int64).
        left: The drawn document (uint32).
        right: The neighbour (uint32).
        hits: Whether the run reported the pair (bool).
        chosen: Whether it is the one tested pair of its document (bool).
        drawn: Number of drawn documents.
    """

    query: NDArray[np.int64]
    left: Positions
    right: Positions
    hits: NDArray[np.bool_]
    chosen: NDArray[np.bool_]
    drawn: int

    def first(self, drawn: int) -> Answers:
        """Return the answers of the first `drawn` documents."""
        part = self.query < drawn
        return Answers(
            self.query[part], self.left[part], self.right[part], self.hits[part], self.chosen[part], drawn
        )

    def and_then(self, later: Answers) -> Answers:
        """Return these and later answers together."""
        return Answers(
            np.concatenate((self.query, later.query)),
            np.concatenate((self.left, later.left)),
            np.concatenate((self.right, later.right)),
            np.concatenate((self.hits, later.hits)),
            np.concatenate((self.chosen, later.chosen)),
            later.drawn,
        )


@dataclass(frozen=True)
class RunCounts:
    """Counts of a run, from which the number of draws is planned.

    Attributes:
        contents: Number of different non-empty contents.
        paired: Number of those with a verified pair.
        pairs: Number of these pairs.
        length: Total length of the contents' texts.
        neighbours: Total number of similar documents found for each content, including copies.
        cut_short: As in `Reported`.
    """

    contents: int
    paired: int
    pairs: int
    length: int
    neighbours: int
    cut_short: int

    def most(self, pilot: Callable[[], tuple[int, int]]) -> int:
        """Return the maximum number of documents to draw, independent of the drawn documents.

        Args:
            pilot: Returns the total number of neighbours of a few documents, and the number of these documents.
        """
        count = max(self.contents, 1)
        by_bytes = MOST_BYTES / max(float(self.length) / count, 1.0)
        each = max(float(self.neighbours) / count, 1.0)
        if self.cut_short:
            neighbours, few = pilot()
            each = max(each, neighbours / max(few, 1))
        return min(self.contents, MOST_DRAWN, max(int(min(by_bytes, MOST_NEIGHBOURS / each)), 100))

    def expected_draws(self, documents: int) -> int:
        """Return the expected number of draws for `documents` documents with a neighbour, based on the found pairs."""
        share = max(float(self.paired) / max(self.contents, 1), 1e-9)
        return math.ceil(documents / share * 1.1) + 10


def sample_until(documents: int, counts: RunCounts, most: int, ask: Callable[[int, int], Answers]) -> Answers:
    """Draw until enough documents have a neighbour, no document is left, or the maximum is reached.

    Args:
        documents: Number of documents with a neighbour to reach.
        told: Counts of the run.
        most: Maximum number of draws.
        ask: Returns the answers of the documents from the first position of the draw to before the second.
    """
    draws = min(counts.expected_draws(documents), most)
    answers = ask(0, draws)
    met = int(answers.chosen.sum())
    if met < documents // 2 and draws < most:
        goal = math.ceil(1.2 * documents * draws / max(met, 1))
        answers = answers.and_then(ask(draws, min(max(goal, 2 * draws), most)))
    if answers.drawn == counts.contents or answers.chosen.sum() <= documents:
        return answers
    last = np.sort(answers.query[answers.chosen])[documents - 1]
    return answers.first(int(last) + 1)


class _Survey:
    """The documents of a corpus in the order in which they are drawn, with the result of the run."""

    def __init__(
        self,
        corpus: DocumentCorpus,
        reported: Reported,
        schema: Schema,
        threshold: float,
        seed: int,
        threads: int,
    ) -> None:
        self.corpus, self.reported, self.schema = corpus, reported, schema
        self.threshold, self.threads = threshold, threads
        self._seed = seed
        everyone = np.arange(len(reported.stands_for), dtype=np.uint32)
        self.population = everyone[(reported.stands_for == everyone) & ~reported.empty]
        self._known = np.sort(pair_keys(reported.left, reported.right))

    def counts(self) -> RunCounts:
        """The counts of the run."""
        said = self.reported
        copies = np.bincount(said.stands_for, minlength=len(said.stands_for))[self.population] - 1
        paired = np.zeros(len(said.stands_for), dtype=bool)
        paired[said.left] = paired[said.right] = True
        sizes = np.bincount(said.stands_for, minlength=len(said.stands_for))
        neighbours = int(copies.sum()) + int(sizes[said.left].sum()) + int(sizes[said.right].sum())
        length = int(self.corpus.text_sizes(self.population, self.threads).sum())
        return RunCounts(
            len(self.population), int(paired.sum()), len(said.left), length, neighbours, said.cut_short
        )

    def pilot(self) -> tuple[int, int]:
        """Return the number of neighbours of a few documents that are not tested.

        So the number of draws stays independent of the answers.
        """
        few = drawn(self.reported.content, self.population, PILOT, self._seed ^ PILOT_SEED)
        return len(self._neighbours(few)[0]), len(few)

    def ask(self, start: int, end: int) -> Answers:
        """Return the true neighbours of the documents from one position of the draw to before another."""
        order = drawn(self.reported.content, self.population, end, self._seed)[start:]
        query, neighbour = self._neighbours(order)
        right = self.reported.stands_for[neighbour]
        left = order[query]
        query, right = distinct(query[left != right], right[left != right])
        left = order[query]
        keys = pair_keys(left, right)
        place = np.minimum(np.searchsorted(self._known, keys), max(len(self._known) - 1, 0))
        is_found = self._known[place] == keys if len(self._known) else np.zeros(len(keys), dtype=bool)
        is_found |= self.reported.large.share(left, right)
        content = self.reported.content
        chosen = chosen_neighbours(query, content[left], content[right], self._seed)
        return Answers(query + start, left, right, is_found, chosen, start + len(order))

    def _neighbours(self, order: Positions) -> tuple[NDArray[np.int64], Positions]:
        """Return place in the order and position of each document that is truly similar, found without bands."""
        query, neighbour = possible_neighbours(self.corpus, order, self.schema, self.threshold, self.threads)
        places = query.astype(np.int64)
        own = [item for item in self.schema.fields.values() if has_own_similarity(item)]
        if len(self.schema.fields) == 1 and not own:
            return places, neighbour
        weights = self.schema.weights
        # Two drawn documents are compared once: a similarity of a field's own may take a millisecond.
        keys, pair = np.unique(pair_keys(order[query], neighbour), return_inverse=True)
        left, right = (keys >> np.uint64(32)).astype(np.uint32), keys.astype(np.uint32)
        alike = (verify(self.corpus, left, right, weights, self.threads) >= self.threshold)[pair]
        return places[alike], neighbour[alike]


def estimated(
    counts: RunCounts, answers: Answers, confidence: float, expected: float | None, missed: tuple[Missed, ...]
) -> RecallEstimate:
    """Compute the estimate from the answers."""
    exhaustive = answers.drawn == counts.contents
    count, successes = int(answers.chosen.sum()), int((answers.chosen & answers.hits).sum())
    missed_pairs = int((~answers.hits).sum())
    missed_in_all = counts.contents / max(answers.drawn, 1) * missed_pairs / 2
    recall: float | None = successes / count if count else None
    low, high = clopper_pearson(successes, count, confidence)
    if exhaustive:
        recall = _mean_share(answers) if count else None
        low, high = (recall, recall) if recall is not None else (1.0, 1.0)
    return RecallEstimate(
        recall=recall,
        low=low,
        high=high,
        confidence=confidence,
        found=successes,
        asked=count,
        drawn=answers.drawn,
        contents=counts.contents,
        exhaustive=exhaustive,
        pair_recall=counts.pairs / (counts.pairs + missed_in_all) if counts.pairs + missed_in_all else None,
        predicted=None if counts.cut_short else expected,
        missed_pairs=missed_pairs,
        missed=missed,
    )


def _mean_share(answers: Answers) -> float:
    """Return the mean, over the documents, of the share of its neighbours that was found."""
    _, document, all_of = np.unique(answers.query, return_inverse=True, return_counts=True)
    found_by_document = np.bincount(document, weights=answers.hits)
    return float(np.mean(found_by_document / all_of))


def missed_first(answers: Answers) -> NDArray[np.intp]:
    """Return which answers are the first missed pairs, each pair once, in the order of the draw."""
    positions = np.flatnonzero(~answers.hits)
    positions = positions[np.argsort(answers.query[positions], kind="stable")]
    keys = pair_keys(answers.left[positions], answers.right[positions])
    return positions[np.sort(np.unique(keys, return_index=True)[1])][:EXAMPLES]


def _examples(survey: _Survey, answers: Answers) -> tuple[Missed, ...]:
    positions = missed_first(answers)
    left, right = answers.left[positions], answers.right[positions]
    by_left = np.argsort(left, kind="stable")
    similarity = np.empty(len(positions))
    weights = survey.schema.weights
    similarity[by_left] = verify(survey.corpus, left[by_left], right[by_left], weights, survey.threads)
    both = survey.reported.stays[left] & survey.reported.stays[right]
    ids: Sequence[list[str | int]] = (survey.corpus.ids(left), survey.corpus.ids(right))
    return tuple(map(Missed, *ids, similarity.tolist(), both.tolist()))


def predicted(
    thousandths: Floats, counts: NDArray[np.int64], bands: Bands | None, schema: Schema
) -> float | None:
    """Predict the recall: found pairs, divided by the sum of 1/p over them (Horvitz, Thompson 1952).

    A pair that is found with probability p represents 1/p pairs. For several fields, p is the probability of one
    field with the mean similarity, which is the lowest.

    Args:
        thousandths: Similarities in whole thousandths, rounded down.
        counts: Number of found pairs of each similarity.
        bands: The bands of the run.
        schema: The fields.
    """
    if bands is None or not len(counts):
        return None
    within = np.array([schema.band_threshold(item) for item in (thousandths / 1000).tolist()])
    chance = np.maximum(np.asarray(bands.probability(within)), 1e-12)
    return float(counts.sum() / (counts / chance).sum())
