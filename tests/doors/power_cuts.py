"""What a disk may hold after a power cut, by the system calls that a process made (`disk_log.c` records them).

The model, which is at least as harsh as ext4, XFS and Btrfs with their usual options:

- The content of a file is certain up to its last `fsync`. Of what was written since, any part may be missing: all of
  it, any writes in any order, the end of a write from a multiple of 512 bytes on, or everything but the size (the
  file is then full of zeros). The file itself may be there and empty.
- Each folder keeps its changes (create, rename, remove) in order, and an `fsync` of the folder makes all of them
  certain. Of the changes since, any number of the last ones may be missing, in each folder independently of the
  others. An `fsync` of a file makes no name certain.
- A rename or an exchange between two folders is one step, as it is in a journal: it is there in both or in neither.
"""

from __future__ import annotations

import os
import random
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

SECTOR = 512
HEADER = struct.Struct("<qqqiic7x")
Tree = dict[str, "bytes | None"]
"""Files by their path, with their content; folders with None."""


@dataclass(frozen=True)
class Event:
    """A system call that changed or synced something below the folder, relative to it."""

    what: str
    inode: int
    path: str
    other: str
    offset: int
    data: bytes
    length: int


@dataclass(eq=False)
class File:
    """A file: what is certain, and the writes since; (offset, data), data None is a truncation."""

    certain: bytes = b""
    writes: list[tuple[int, bytes | None]] = field(default_factory=list)

    def content(self) -> bytes:
        """What programs see."""
        return applied(self.certain, self.writes)

    def after_cut(self, chance: random.Random) -> bytes:
        """What may be left of it."""
        if not self.writes:
            return self.certain
        how = chance.choice(["all", "nothing", "some", "some", "size"])
        if how == "all":
            return self.content()
        if how == "nothing":
            return self.certain
        if how == "size":
            return self.certain[: len(self.content())].ljust(len(self.content()), b"\0")
        some = [write for write in self.writes if chance.random() < 0.6]
        chance.shuffle(some)
        return applied(self.certain, [torn(write, chance) for write in some])


@dataclass(eq=False)
class Folder:
    """A folder: its changes in order, of which the first are certain. A change names its step and what it sets."""

    changes: list[tuple[int, dict[str, File | Folder | None]]] = field(default_factory=list)
    certain: int = 0

    def names(self, changes: int | None = None) -> dict[str, File | Folder]:
        """What lies in it after its first changes, by default after all."""
        inside: dict[str, File | Folder] = {}
        for _, change in self.changes[:changes]:
            for name, node in change.items():
                inside.pop(name, None)
                if node is not None:
                    inside[name] = node
        return inside


class Disk:
    """Files and folders as a process saw them, and as they may be after a power cut."""

    def __init__(self, root: Path) -> None:
        """Begin with what lies in a folder, all of it certain."""
        self._steps = 0
        self._inodes: dict[int, File | Folder] = {}
        self.root = self._read(root)

    def _read(self, path: Path) -> Folder:
        folder = Folder()
        for child in sorted(path.iterdir()):
            node: File | Folder = self._read(child) if child.is_dir() else File(child.read_bytes())
            self._inodes[child.stat().st_ino] = node
            folder.changes.append((self._step(), {child.name: node}))
        folder.certain = len(folder.changes)
        self._inodes[path.stat().st_ino] = folder
        return folder

    def _step(self) -> int:
        self._steps += 1
        return self._steps

    def do(self, event: Event) -> None:
        """Take one system call."""
        if event.what in "CM":
            self._inodes[event.inode] = made = File() if event.what == "C" else Folder()
            self._change({event.path: made})
        elif event.what == "U":
            self._change({event.path: None})
        elif event.what == "R":
            self._change({event.path: None, event.other: self._node(event.path)})
        elif event.what == "X":
            self._change({event.path: self._node(event.other), event.other: self._node(event.path)})
        else:
            self._to_node(event, self._inodes[event.inode])

    def _to_node(self, event: Event, node: File | Folder) -> None:
        if isinstance(node, Folder):
            assert event.what == "S", event
            node.certain = len(node.changes)
        elif event.what == "S":
            node.certain, node.writes = node.content(), []
        elif event.what == "T":
            node.writes.append((event.offset, None))
        else:
            node.writes.append((event.offset, event.data))

    def _change(self, nodes: dict[str, File | Folder | None]) -> None:
        step = self._step()
        parts: dict[str, dict[str, File | Folder | None]] = {}
        for path, node in nodes.items():
            folder, name = os.path.split(path)
            parts.setdefault(folder, {})[name] = node
        folders = [self._node(folder) for folder in parts]
        for folder, change in zip(folders, parts.values(), strict=True):
            assert isinstance(folder, Folder)
            folder.changes.append((step, change))

    def _node(self, path: str) -> File | Folder:
        node: File | Folder = self.root
        for name in path.split("/") if path else ():
            assert isinstance(node, Folder)
            node = node.names()[name]
        return node

    def seen(self) -> Tree:
        """What programs see."""
        return dict(tree(self.root, {id(folder): None for folder in self._folders()}, None))

    def after_cut(self, chance: random.Random) -> Tree:
        """What may be left after a power cut now."""
        kept: dict[int, int | None] = {}
        folders = self._folders()
        for folder in folders:
            kept[id(folder)] = chance.choice(
                [folder.certain, chance.randint(folder.certain, len(folder.changes)), len(folder.changes)]
            )
        before = None
        while before != kept:  # what is one step is there in all of its folders
            before = dict(kept)
            steps = {step for folder in folders for step, _ in folder.changes[: kept[id(folder)]]}
            for folder in folders:
                last = [i for i, (step, _) in enumerate(folder.changes, 1) if step in steps]
                kept[id(folder)] = max([kept[id(folder)] or 0, *last])
        return dict(tree(self.root, kept, chance))

    def _folders(self) -> list[Folder]:
        reached, waiting = [], [self.root]
        while waiting:
            folder = waiting.pop()
            reached.append(folder)
            nodes = {id(node): node for _, change in folder.changes for node in change.values()}
            waiting += [node for node in nodes.values() if isinstance(node, Folder) and node not in reached]
        return list({id(folder): folder for folder in reached}.values())


def tree(
    folder: Folder, kept: dict[int, int | None], chance: random.Random | None, path: str = ""
) -> Iterator[tuple[str, bytes | None]]:
    """Everything in a folder after so many changes of each; without chance the files as they are seen."""
    for name, node in folder.names(kept[id(folder)]).items():
        if isinstance(node, Folder):
            yield path + name, None
            yield from tree(node, kept, chance, f"{path}{name}/")
        else:
            yield path + name, node.content() if chance is None else node.after_cut(chance)


def applied(content: bytes, writes: Sequence[tuple[int, bytes | None]]) -> bytes:
    """A content after some writes."""
    result = bytearray(content)
    for offset, data in writes:
        if data is None:
            result = result[:offset].ljust(offset, b"\0")
        else:
            result = result.ljust(offset, b"\0")
            result[offset : offset + len(data)] = data
    return bytes(result)


def torn(write: tuple[int, bytes | None], chance: random.Random) -> tuple[int, bytes | None]:
    """A write of which the end may be missing, from a multiple of 512 bytes on."""
    offset, data = write
    if data is None or chance.random() < 0.5:
        return write
    return offset, data[: chance.randrange(0, len(data) + 1, SECTOR)]


def read_log(log: Path, root: Path) -> list[Event]:
    """The system calls of a log."""
    data, at, events = log.read_bytes(), 0, []
    while at < len(data):
        inode, offset, length, path_length, other_length, what = HEADER.unpack_from(data, at)
        at += HEADER.size
        path, other = data[at : at + path_length], data[at + path_length : at + path_length + other_length]
        at += path_length + other_length
        body = data[at : at + length] if what == b"W" else b""
        at += len(body)
        names = (relative(name, root) for name in (path, other))
        events.append(Event(what.decode(), inode, *names, offset, body, length))
    return events


def relative(path: bytes, root: Path) -> str:
    """A path as seen from the folder; of a removed file it says nothing."""
    name = os.path.normpath(os.fsdecode(path)) if path else str(root)
    return "" if name == str(root) else os.path.relpath(name, root)


def on_disk(folder: Path) -> Tree:
    """What lies in a folder."""
    found = sorted(folder.rglob("*"))
    return {str(path.relative_to(folder)): None if path.is_dir() else path.read_bytes() for path in found}


def put_on_disk(files: Tree, folder: Path) -> None:
    """Make a folder of what a power cut has left."""
    folder.mkdir()
    for path, content in files.items():
        if content is None:
            (folder / path).mkdir(parents=True, exist_ok=True)
        else:
            (folder / path).write_bytes(content)
