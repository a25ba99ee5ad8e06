"""A batch run, from sources to verified duplicates.

| module | contents |
|---|---|
| `flow` | the run itself, on one page: `find_duplicates` |
| `options` | its rarely changed settings: `Options` |
| `reading` | reading the sources |
| `promise` | the promised recall, and the method that achieves it |
| `work` | the division of the work into parts |
| `ids` | repeated ids |
| `kept` | `dedupe`: the kept documents in the kind that was given |
| `checkpoint` | resuming an interrupted run |
| `memory` | the memory limit |
| `against` | matches with older collections |
"""

from __future__ import annotations

from benzer.pipeline.checkpoint import Checkpoint
from benzer.pipeline.flow import find_duplicates
from benzer.pipeline.kept import dedupe
from benzer.pipeline.options import Options

__all__ = ["Checkpoint", "Options", "dedupe", "find_duplicates"]
