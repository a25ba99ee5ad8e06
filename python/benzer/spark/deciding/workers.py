"""The tasks: they collect complete groups of rows, read their documents, compare pairs and decide.

A worker that compares receives parcels of documents and pairs by part. A worker that does not compare receives mixed
rows sorted by component: a pair has a `left`, a document has a `number`. The output depends only on the rows of a block
or component.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benzer.clusters import Positions
from benzer.corpora import DocumentCorpus
from benzer.errors import InputError
from benzer.families import Families, families_of
from benzer.fields import Schema
from benzer.registry import require
from benzer.spark.deciding.gathering import GATHERED_BYTES, whole_groups
from benzer.spark.deciding.judging import Judge, Verified
from benzer.spark.deciding.members import Members, in_order, whole_numbers
from benzer.spark.deciding.parcels import Open
from benzer.spark.frames import DOCUMENTS
from benzer.spark.reading import corpus_of_batch
from benzer.verify import verify

OTHERS = (
    "known", "first", "first_id", "first_place", "as_number", "as_id", "as_place", "as_extra", "as_length"
)  # fmt: skip
"""Columns of `benzer.spark.deciding.members` that documents have only if they matter."""

WANTED = -1
"""The `kind` of a pair that must be compared before its component is decided."""

GIVEN_ROWS = 1 << 16


@dataclass(frozen=True)
class Reader:
    """Reads the documents of a table into a corpus, with the values that keep rules need."""

    schema: Schema
    lengths: bool = False

    def read(self, table: Any) -> tuple[Members, Comparing]:
        """The documents in input order, and their comparison function."""
        documents = in_order(table)
        corpus = corpus_of_batch(self.schema, documents).corpus
        if len(corpus) != documents.num_rows:
            raise InputError(
                f"{documents.num_rows - len(corpus)} documents can no longer be read: the input changed during the "
                f"run; run again on a table that does not change"
            )
        everyone = np.arange(len(corpus), dtype=np.uint32)
        lengths = corpus.text_lengths(everyone, 1) if self.lengths else np.zeros(len(corpus), dtype=np.uint64)
        identity = corpus.identities(everyone, 1).view(np.int64)
        columns = [name for name in documents.column_names if name in (*DOCUMENTS, *OTHERS, "buckets")]
        return Members(documents.select(columns), lengths, identity), Comparing(corpus, self.schema)


@dataclass(frozen=True)
class Comparing:
    """The exact similarity of pairs of the documents of a corpus."""

    corpus: DocumentCorpus
    schema: Schema

    def __call__(self, left: Positions, right: Positions) -> NDArray[np.float64]:
        return verify(self.corpus, left, right, self.schema.weights, 1)

    @property
    def families(self) -> Families:
        """Compares the documents of large buckets with the kept ones among them."""
        return families_of(self.corpus, self.schema, self, 1)

    def pairs(self, members: Members, table: Any) -> Verified:
        """The pairs of a table with their similarity."""
        left, right = _ends(members, table)
        left, right = np.minimum(left, right), np.maximum(left, right)
        return Verified(left, right, self(left, right))


@dataclass(frozen=True)
class Whole:
    """Verifies and decides complete blocks in one pass: all documents of additional pairs are available.

    A part is in memory completely. About `Open.most` bytes of its blocks are processed together, and at least one
    block, which has at most `Work.block_documents` documents and `Work.block_pairs` pairs.
    """

    reader: Reader
    judge: Judge
    open: Open

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for documents, pairs in self.open(batches):
            members, compare = self.reader.read(documents)
            outcomes = self.judge.outcomes(members, compare.pairs(members, pairs), compare, compare.families)
            yield from _batches(outcomes)


@dataclass(frozen=True)
class Compared:
    """Verifies the pairs of divided blocks: returns the pairs of at least `least`, and their documents without texts.

    A document is returned once for each table of blocks with a pair of it. columns: their order, which Spark uses.
    """

    reader: Reader
    least: float
    columns: tuple[str, ...]
    open: Open

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        for documents, pairs in self.open(batches):
            members, compare = self.reader.read(documents)
            alike = compare.pairs(members, pairs).at_least(self.least)
            yield from _batches(self._rows(members, alike))

    def _rows(self, members: Members, pairs: Verified) -> Any:
        pyarrow = require("pyarrow", extra="spark", purpose="Arrow batches")
        ends = np.unique(np.concatenate((pairs.left, pairs.right)))
        nodes = members.table.take(ends)
        columns_of_pairs = {
            "length": members.lengths[ends].astype(np.int64),
            "identity_a": np.ascontiguousarray(members.identity[ends, 0]),
            "identity_b": np.ascontiguousarray(members.identity[ends, 1]),
        }
        for name, column in columns_of_pairs.items():
            nodes = nodes.append_column(name, pyarrow.array(column))
        edges = pyarrow.table(
            {
                "left": members.numbers[pairs.left],
                "right": members.numbers[pairs.right],
                "similarity": pairs.similarity,
            }
        )
        return pyarrow.concat_tables([nodes, edges], promote_options="default").select(list(self.columns))


@dataclass(frozen=True)
class Tied:
    """Decides components of verified pairs without texts; pairs to compare are returned as rows `WANTED`.

    A component with such a pair has no other rows. It is in memory completely: a document needs about 100 bytes and its
    id, a pair 24 bytes, and 32 more while it is decided.
    """

    judge: Judge
    most: int = GATHERED_BYTES

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        pyarrow = require("pyarrow", extra="spark", purpose="Arrow batches")
        for documents, pairs in _parts(batches, "component", self.most):
            outcomes, wanted = self._decide(documents, pairs)
            if wanted.num_rows:
                # The rest is decided again, which costs less than tracking the owners of rows.
                still = pyarrow.array(np.unique(whole_numbers(wanted.column("component"))))
                outcomes, _ = self._decide(_without(documents, still), _without(pairs, still))
            yield from _batches(pyarrow.concat_tables([outcomes, wanted]))

    def _decide(self, documents: Any, pairs: Any) -> tuple[Any, Any]:
        pyarrow = require("pyarrow", extra="spark", purpose="Arrow batches")
        documents = in_order(documents)
        lengths = whole_numbers(documents.column("length")).astype(np.uint64)
        identity = np.stack([whole_numbers(documents.column(f"identity_{half}")) for half in "ab"], axis=1)
        members = Members(documents, lengths, identity)
        left, right = _ends(members, pairs)
        requests = Wanted()
        outcomes = self.judge.outcomes(
            members, Verified.of(left, right, pairs.column("similarity").to_numpy()), requests
        )
        left, right = requests.pairs
        columns = {field.name: pyarrow.nulls(len(left), field.type) for field in outcomes.schema}
        columns["kind"] = pyarrow.array(np.full(len(left), WANTED, dtype=np.int32))
        columns["left"], columns["right"] = (pyarrow.array(members.numbers[end]) for end in (left, right))
        columns["component"] = documents.column("component").take(pyarrow.array(left))
        return outcomes, pyarrow.table(columns, schema=outcomes.schema)


@dataclass
class Wanted:
    """Replaces a comparison that another task must do: records the pairs and reports none as similar."""

    requested: list[tuple[Positions, Positions]] = field(default_factory=list)

    def __call__(self, left: Positions, right: Positions) -> NDArray[np.float64]:
        self.requested.append((left, right))
        return np.full(len(left), -1.0)

    @property
    def pairs(self) -> tuple[Positions, Positions]:
        """All requested pairs."""
        none = np.empty(0, dtype=np.uint32)
        left, right = zip((none, none), *self.requested, strict=True)
        return np.concatenate(left), np.concatenate(right)


def _parts(batches: Iterable[Any], group: str, most: int) -> Iterator[tuple[Any, Any]]:
    """The documents and the pairs of complete groups."""
    compute = require("pyarrow.compute", extra="spark", purpose="Arrow batches")
    for table in whole_groups(batches, group, most):
        are_pairs = table.column("left").is_valid()
        columns = [name for name in (group, "left", "right", "similarity") if name in table.column_names]
        yield table.filter(compute.invert(are_pairs)), table.select(columns).filter(are_pairs)


def _without(table: Any, components: Any) -> Any:
    """The rows of all other components."""
    compute = require("pyarrow.compute", extra="spark", purpose="Arrow batches")
    return table.filter(compute.invert(compute.is_in(table.column("component"), components)))


def _ends(members: Members, pairs: Any) -> tuple[Positions, Positions]:
    """The positions of the documents of pairs."""
    left, right = (members.positions(whole_numbers(pairs.column(end))) for end in ("left", "right"))
    return left, right


def _batches(table: Any) -> Iterator[Any]:
    yield from table.combine_chunks().to_batches(max_chunksize=GIVEN_ROWS)
