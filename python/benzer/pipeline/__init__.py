"""A batch run, from sources to verified duplicates.

| room | answers |
|---|---|
| `flow` | the run itself, on one page: `find_duplicates` |
| `options` | its rarely changed settings: `Options` |
| `reading` | what it reads |
| `promise` | what it is asked for, and by which method it keeps that |
| `work` | how the work is cut |
| `checkpoint` | where an interrupted run goes on |
| `memory` | how much memory a run may take of its own |
| `against` | which new documents an older collection holds already |
"""

from __future__ import annotations

from benzer.pipeline.checkpoint import Checkpoint
from benzer.pipeline.flow import find_duplicates
from benzer.pipeline.options import Options

__all__ = ["Checkpoint", "Options", "find_duplicates"]
