"""What is done with whole sets: packing, restoring, verifying."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import NamedTuple

from . import _forebay
from ._errors import Damaged, InvalidArgument

Path = str | os.PathLike
Progress = Callable[[int, int], object]


class Packed(NamedTuple):
    """What was packed: the set's name and step, how many ranks and files, and bytes before and after."""

    name: str
    step: int | None
    ranks: int
    files: int
    raw_bytes: int
    stored_bytes: int
    containers: int
    seconds: float
    remarks: list[str]


class Restored(NamedTuple):
    """What was restored, and which newer sets were passed over for "latest", each with the reason."""

    name: str
    files: int
    bytes: int
    seconds: float
    skipped: list[str]


class Verified(NamedTuple):
    """What was read back: `damages` has a sentence for each damage."""

    name: str
    intact: bool
    files: int
    raw_bytes: int
    stored_bytes: int
    damages: list[str]
    seconds: float


class Pruned(NamedTuple):
    """What was removed, and, as sentences, what is wrong with sets that were looked at or have stayed."""

    removed: list[str]
    problems: list[str]


class VariableDifference(NamedTuple):
    """What differs in a variable of a file.

    elements: how many differ in any bit; None: its shape or type differs, only one file has it, or its elements cannot
    be told apart. max_absolute: the largest difference of finite numbers; None: there is none. nan, infinite: of the
    differing elements, those where one value, or both, are NaN, or else infinite.
    """

    path: str
    elements: int | None
    max_absolute: float | None
    nan: int
    infinite: int


class FileDifference(NamedTuple):
    """A file that differs. change: `added`, `removed`, `bytes`, or `metadata` (name, mode, time or kind only).

    name: in the first set; of an added file, in the second. other_name: in the second set, if it is another one there.
    variables: of a file whose bytes differ; empty if only what is no variable does.
    """

    name: str
    other_name: str | None
    change: str
    variables: list[VariableDifference]


class SetInfo(NamedTuple):
    """A set of a store. `damage` says what is wrong with its manifest; then nothing but the name is known."""

    name: str
    series: str | None
    step: int | None
    created_ns: int | None
    raw_bytes: int | None
    stored_bytes: int | None
    damage: str | None


def pack(
    sources: Path | Iterable[Path],
    store: Path,
    *,
    name: str = "",
    step: int | None = None,
    series: str = "",
    profile: str = "balanced",
    parent: str = "",
    group_size: int = 0,
    memory: int = 0,
    threads: int = 0,
    progress: Progress | None = None,
) -> Packed:
    """Packs directories of per-rank files into the store as one set, which is there whole or not at all.

    Args:
        sources: a path, or several: directories or files, one for each rank or with all of them.
        store: a directory; made if it is not there.
        name: of the set; "": the last component of the first source.
        step: its number in the run; None: the last number in the name.
        series: that it belongs to; "": "default".
        profile: "fast", "balanced", "max", or a chain of codecs (docs/codecs.md).
        parent: a set, or "latest", whose equal frames are referred to instead of being stored again.
        group_size: ranks in a container; 0: as the command has it.
        memory, threads: bytes, and computing threads; 0: a quarter of the machine's, and all cores.
        progress: called with (bytes done, bytes in all) now and then. An exception of it, such as that of Ctrl-C, is
            raised when the set is packed.

    Returns:
        A Packed.

    Raises:
        Exists: the name is taken. NotFound, Gone (a source changed meanwhile), Limit, InvalidArgument, Failed.
    """
    paths = [sources] if isinstance(sources, (str, os.PathLike)) else list(sources)
    return Packed(
        **_forebay.pack([os.fspath(one) for one in paths], os.fspath(store), name, step, series, profile, parent,
                        group_size, memory, threads, progress)  # fmt: skip
    )


def restore(
    store: Path,
    to: Path,
    *,
    name: str = "latest",
    only: str | Iterable[str] = (),
    overwrite: bool = False,
    series: str = "",
    memory: int = 0,
    threads: int = 0,
    progress: Progress | None = None,
) -> Restored:
    """Restores a set, byte for byte, beneath the directory `to`. Files appear when all of them are verified.

    Args:
        name: of the set; "latest" is the newest that is intact.
        only: shell patterns of file names; none: all files.
        overwrite: replace files that are there.
        series: in which "latest" is looked for; "": the only one.

    Returns:
        A Restored.

    Raises:
        NotFound, Exists (a file is there), Damaged (names the files that suffer), Limit, Failed.
    """
    patterns = [only] if isinstance(only, str) else list(only)
    return Restored(
        **_forebay.restore(os.fspath(store), name, os.fspath(to), patterns, overwrite, series, memory, threads, progress)
    )


def verify(
    store: Path,
    name: str,
    *,
    check: bool = False,
    memory: int = 0,
    threads: int = 0,
    progress: Progress | None = None,
) -> Verified:
    """Reads a set back, every byte, and compares all checksums.

    Returns:
        A Verified; with `check` damage raises Damaged instead.

    Raises:
        NotFound, Limit, Unsupported, Failed: the set cannot be looked at.
    """
    report = Verified(**_forebay.verify(os.fspath(store), name, memory, threads, progress))
    if check and not report.intact:
        raise Damaged(f"{store}: set {name}: {report.damages[0]}", "corrupt", report.damages[0], os.fspath(store))
    return report


def diff(
    store: Path,
    name: str,
    other_name: str,
    *,
    other_store: Path | None = None,
    memory: int = 0,
    threads: int = 0,
) -> list[FileDifference]:
    """Compares two sets file by file, and files whose bytes differ variable by variable, as `forebay diff` does.

    Files whose names contain that of the set are compared where rank and the rest of the name are equal. Files of equal
    size and checksum are not read. Other threads of Python run meanwhile.

    Args:
        store, name: the first set. other_store, other_name: the second one; None: of the same store.
        memory: bytes for buffers; 0: a quarter of the machine's. threads: 0: one per core.

    Returns:
        The files that differ, in order of names: an empty list if the sets are equal.

    Raises:
        NotFound: no such store or set. Damaged, Limit, Unsupported, Failed.
    """
    found = _forebay.diff(
        os.fspath(store), name, os.fspath(store if other_store is None else other_store), other_name, memory, threads
    )
    return [
        FileDifference(file, renamed, change, [VariableDifference(*one) for one in variables])
        for file, renamed, change, variables in found
    ]


def prune(
    store: Path,
    *,
    keep_last: int = 0,
    keep_every: int = 0,
    series: str = "",
    dry_run: bool = False,
    memory: int = 0,
    threads: int = 0,
) -> Pruned:
    """Removes all but the newest `keep_last` sets, and those whose step is a multiple of `keep_every`.

    Never removes the newest intact set, which is read back first, nor what kept sets refer to.

    Args:
        series: only its sets; "": of each series by itself.
        dry_run: remove nothing, and say what would be.

    Raises:
        InvalidArgument: nothing is said to be kept. Damaged: no set is intact. NotFound, Limit, Failed.
    """
    if keep_last <= 0 and keep_every <= 0:
        raise InvalidArgument("what to keep is not given: keep_last or keep_every", "invalid_argument")
    return Pruned(**_forebay.prune(os.fspath(store), series, keep_last, keep_every, dry_run, memory, threads))


def sets(store: Path) -> list[SetInfo]:
    """A SetInfo for each set of the store, oldest first.

    Raises:
        NotFound: there is no store. Unsupported, Failed.
    """
    return [SetInfo(*one) for one in _forebay.sets(os.fspath(store))]
