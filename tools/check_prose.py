"""Check that user-facing texts use plain words and plain sentences.

`python -m tools.check_prose` reads the files in `CHECKED` and prints `file:line: text: advice` for each finding.
With paths it reads these instead. The exit status is 1 if there are findings.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.prose_texts import Text, texts

ROOT = Path(__file__).resolve().parent.parent
CHECKED: list[str] = [  # files and folders that are written in plain English; add yours when it is done
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "SECURITY.md",
    "benchmarks",
    "crates",
    "docs",
    "examples",
    "python/benzer/advice.py",
    "python/benzer/bands.py",
    "python/benzer/buckets.py",
    "python/benzer/candidates.py",
    "python/benzer/checks.py",
    "python/benzer/cli",
    "python/benzer/client",
    "python/benzer/clusters.py",
    "python/benzer/columns.py",
    "python/benzer/comparison.py",
    "python/benzer/contained.py",
    "python/benzer/contents.py",
    "python/benzer/corpora.py",
    "python/benzer/corpus.py",
    "python/benzer/document.py",
    "python/benzer/errors.py",
    "python/benzer/evidence",
    "python/benzer/exact.py",
    "python/benzer/experiments",
    "python/benzer/families.py",
    "python/benzer/fields",
    "python/benzer/index",
    "python/benzer/minhash.py",
    "python/benzer/pipeline",
    "python/benzer/planner.py",
    "python/benzer/presets.py",
    "python/benzer/pricing.py",
    "python/benzer/recall",
    "python/benzer/registry.py",
    "python/benzer/report",
    "python/benzer/results",
    "python/benzer/service",
    "python/benzer/sketcher.py",
    "python/benzer/spark",
    "python/benzer/storage",
    "python/benzer/tables",
    "python/benzer/verify.py",
    "python/benzer/views",
    "python/benzer/wording.py",
    "tools",
]
SUFFIXES = {".md", ".py", ".html", ".js", ".rs"}
SENTENCE_START = r"(?:^|(?<=[.:;|>*-]\s))"  # followed by a capital letter; a line can begin within a sentence
BE = r"(?:is|are|was|were|be|been|being)"


@dataclass(frozen=True)
class Pattern:
    """A regular expression of a word or construction to avoid, and what to write instead.

    A space in the expression matches any white space. `kinds` limits it to some kinds of text.
    """

    expression: str
    advice: str
    bad: str
    good: str
    kinds: tuple[str, ...] = ()

    def finditer(self, text: Text) -> Iterator[re.Match[str]]:
        """The matches in a text of a kind that the pattern applies to."""
        if not self.kinds or text.kind in self.kinds:
            expression = self.expression.replace(" ", r"\s+")
            yield from re.finditer(expression, text.prose, re.IGNORECASE | re.MULTILINE)


PATTERNS = [
    # Words
    Pattern(r"\bpictures?\b", "write: image", "add a picture", "add an image"),
    Pattern(r"\bwhoever\b", "name the role, or write: anyone who", "whoever asks", "anyone who asks"),
    Pattern(r"\bunasked\b", "write: by default", "it runs unasked", "it runs by default"),
    Pattern(r"\b(rooms?|floors?)\b", "write: module, layer", "a room per field", "a module per field"),
    Pattern(r"\bdoors?\b", "write: interface", "every door agrees", "all interfaces agree"),
    Pattern(r"\blikeness(es)?\b", "write: similarity", "their likeness", "their similarity"),
    Pattern(r"\balike\b", "write: similar", "two that are alike", "two similar documents"),
    Pattern(r"\b(its|the|their) likes\b", "write: matches", "find its likes", "find its matches"),
    Pattern(r"\bbeside\b", "write: next to, with, compared with", "it lies beside it", "it is next to it"),
    Pattern(r"\b(anew|afresh)\b", "write: again", "write it anew", "write it again"),
    Pattern(r"\bshall\b", "write: must, should, will", "it shall count", "it must count"),
    Pattern(r"\bmend(s|ed|ing)?\b", "write: fix", "mend the address", "fix the address"),
    Pattern(r"\bsurvivors?\b", "write: kept documents", "the survivors", "the kept documents"),
    Pattern(r"\bstrangers?\b", "write: unrelated documents, unknown users", "two strangers", "unrelated texts"),
    Pattern(r"\b(hence|whence|wherein|thereof|thereby|upon)\b", "write: so, where, on", "upon it", "on it"),
    Pattern(r"\bin the midst\b", "write: in the middle, during", "an error in the midst", "an error during it"),
    Pattern(r"\bcut-?offs?\b", "write: threshold", "the cutoff", "the threshold"),
    Pattern(r"\bone's\b", "write: your", "one's own field", "your own field"),
    Pattern(
        r"\b(normalis|tokenis|recognis|optimis|summaris|initialis|serialis)\w*|\bneighbor|\bgray\b",
        "spell: normalize, neighbour, grey", "normalise it", "normalize it",
    ),
    # Idioms
    Pattern(r"\bbec(o|a)mes? of\b", "write: result, outcome", "what becomes of it", "the outcome"),
    Pattern(r"\bbecome of\b", "write: result, outcome", "what has become of it", "the outcome"),
    Pattern(
        r"\b(stands?|stood) (in|there|first|next|behind|below|above|apart|at|where|beside|alone)\b",
        "write: is in, appears in, comes first", "98 % stands in B", "98 % appears in B",
    ),
    Pattern(
        r"\b(lies?|lay) (in|on|there|where|beside|apart|under)\b",
        "write: is in, is stored in", "the file lies in a folder", "the file is in a folder",
    ),
    Pattern(
        rf"(?<!lock\s)\b{BE} (told|asked|held|met)\b",
        "write: given, requested, stored", "it is told", "it is given",
    ),
    Pattern(rf"\b{BE} said\b", "write: reported, printed", "it is said in one line", "one line reports it"),
    Pattern(
        r"\b(who|what|which|that|one|ones|those|all|let it|would|shall|and|or) (stays?|goes?)\b"
        r"(?! (to|through|into|back|up|down|in|from|with|on|out|at|below|above|as|the|unchanged|open|valid))",
        "write: is kept, is removed", "the one that stays", "the one that is kept",
    ),
    Pattern(r"\b(stays?|goes?) or (stays?|goes?)\b", "write: kept, removed", "it stays or goes", "kept or removed"),
    Pattern(r"\btak(e|es|en|ing) away\b", "write: remove", "what it would take away", "what it would remove"),
    Pattern(r"\bhand(s|ed)? (out|back)\b", "write: return, download", "hands out rows", "returns rows"),
    Pattern(r"\bin (the )?place of\b", "write: instead of", "in the place of a file", "instead of a file"),
    Pattern(r"\bwithout a word\b", "write: silently", "lost without a word", "lost silently"),
    Pattern(r"\ball the same\b", "write: anyway", "it runs all the same", "it runs anyway"),
    Pattern(r"\bbut for\b", "write: except", "all but for runs on Spark", "all except runs on Spark"),
    Pattern(r"\bsave (for|where|that)\b", "write: except", "all save for one", "all except one"),
    Pattern(r"\bwhere to cut\b", "write: choose a threshold", "see where to cut", "choose a threshold"),
    Pattern(r"\bthose there (is|are)\b", "write: existing", "lists those there are", "lists all indexes"),
    Pattern(r"\bof which\b", "split the sentence", "two, of which one", "two; one of them"),
    Pattern(r"\blet(s|ting)? go (of|what)\b", "write: release, evict", "it lets go of them", "it frees them"),
    Pattern(
        r"\b(numbers|integers|elements|of every \w+|\d) in a row\b",
        "write: consecutive", "numbers in a row", "consecutive numbers",
    ),
    Pattern(r"\bsome (\d|ten\b|twenty|sixty|hundred|thousand)", "write: about", "some 4,096 documents", "about 4,096"),
    Pattern(
        r"\d (bytes|ns|nanoseconds|µs|ms|KB|MB|pairs|times|documents|searches|requests) an? "
        r"(second|minute|hour|document|byte|shingle|element|value|pair|word|slot|posting|image|key|row|point)\b",
        "write: per", "137 bytes a document", "137 bytes per document",
    ),
    Pattern(r"\b(can|could) be had\b", "write: is available", "it can be had by name", "it is available by name"),
    Pattern(r"\b(tell|tells|told) (\w+ ){0,4}apart\b", "write: distinguish", "tell users apart", "distinguish users"),
    Pattern(
        r"\b(hang|hangs|tie|ties|tied) together\b",
        "write: connected", "pairs that hang together", "connected pairs",
    ),
    Pattern(r"\b(by|in) turns\b|\bturn by turn\b", "write: alternately", "they run by turns", "they alternate"),
    Pattern(
        r"\bthe (\w+ )?least (of|number|similarity|content|distinct|value|values|work|cost|time)\b",
        "write: the smallest, lowest, minimum", "the k least values", "the k smallest values",
    ),
    Pattern(
        r"\bgo(es)? on (with|where|over|to|after)\b",
        "write: continue", "it goes on with the last", "it continues with the last",
    ),
    # Constructions
    Pattern(
        r"(\bnot?\b(?:(?!neither)[^.:|])*?|[,;.:—] )\bnor\b",
        "write: or, and not", "it is not read, nor is it kept", "it is neither read nor kept",
    ),
    Pattern(
        rf"{SENTENCE_START}(?-i:Was|Were|Had|Should|Did|Is (?=the |a |an |it |that |this |no ))\b[^.?:;|]{{3,140}}, ",
        "write: If it was …", "Was it above the limit, it may be missed.", "If it was above it, it may be missed.",
        ("markdown", "docstring", "page", "error", "help"),
    ),
    Pattern(
        r"[;,:] so\s(is|are|do|does|did|was|were|has|have|can|may)\b(?! not\b)",
        "write: X does too", "A is kept, so is B", "A and B are kept",
    ),
    Pattern(
        rf"({SENTENCE_START}(?-i:What|Who|Whose)|(?<=\|\s)what) (?!if\b|to\b)[^.?:|]*[.|]",
        "start with the subject", "What is missing is printed.", "Missing parts are printed.",
    ),
    Pattern(
        r"\ba (document|row|object|record|file|page) a (line|row|document|file)\b",
        "write: one document per line", "a document a line", "one document per line",
    ),
    Pattern(r"^#+ .*\?$", "make the heading a noun phrase or a task", "## Why?", "## Reasons", ("markdown",)),
    Pattern(
        r"^#+ (What|Why|Where|When|Who|Which|How)\b(?! to\b| it works$).*",
        "make the heading a noun phrase or a task", "## What a cluster is", "## Clusters", ("markdown",),
    ),
    Pattern(
        r"\A\s*(What|Why|Where|When|Who|Which|How|Is|Are|Does|Do|Can)\b[^.\n]*\?",
        "say what it does, not a question", "What is a band?", "Bands of signatures.", ("docstring",),
    ),
]  # fmt: skip


def findings(text: Text) -> Iterator[tuple[int, str, str]]:
    """The line, the words and the advice of each finding in a text."""
    for pattern in PATTERNS:
        for match in pattern.finditer(text):
            words = " ".join(match[0].split())
            inner = text.prose.count("\n", 0, match.start())
            yield text.line + inner, words if len(words) <= 60 else words[:57] + "...", pattern.advice


def files(paths: list[str]) -> Iterator[Path]:
    """The files of the given paths that can hold user-facing text."""
    for name in paths:
        path = ROOT / name
        inner = sorted(path.rglob("*")) if path.is_dir() else [path]
        yield from (file for file in inner if file.suffix in SUFFIXES)


def run(arguments: list[str]) -> int:
    """Print the findings of the given paths, of `CHECKED` if there are none."""
    reported = [
        f"{os.path.relpath(path, ROOT)}:{line}: {words}: {advice}"
        for path in files(arguments or CHECKED)
        for text in texts(path)
        for line, words, advice in sorted(findings(text))
    ]
    print("\n".join(reported), end="\n" if reported else "")
    return 1 if reported else 0


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
