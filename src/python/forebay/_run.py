"""Runs, steps and arrays: what lies in a store, a file of process groups or a BP file, to be read in part."""

from __future__ import annotations

import html
import math
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import _forebay
from ._array import Array, StoredFile, attribute_value, raise_first
from ._errors import Damaged, Error, Gone, InvalidArgument, NotFound, Unsupported, not_found
from ._matches import Matches, matches_of
from ._types import Selection, fill_of


def open(  # noqa: A001
    path: str | os.PathLike[str],
    *,
    series: str = "",
    set: str = "",  # noqa: A002
    layout: str = "",
    raw: bool = False,
    memory: int = 0,
    threads: int = 0,
) -> Run:
    """Opens what lies in `path` for reading.

    Args:
        path: a store, a file of process groups, or a BP file of ADIOS 1.9 to 1.13.
        series: of the store's series the one to read; "": the only one.
        set: this set alone, "latest", or "step:40"; "": all sets of the series.
        layout: text of a TOML that says where blocks lie (docs/reading.md, "Layouts").
        raw: values as files have them, fill values among them.
        memory: bytes for indices, kept frames and reading; 0: a quarter of the machine's.
        threads: that decode; 0: one for each core.

    Returns:
        A Run. Threads may share it. A child of fork() may not use it; a pickle opens the same again.

    Raises:
        NotFound: there is no such store, series or set.
        InvalidArgument: the store has several series and none is given, or the layout makes no sense.
        Damaged, Unsupported, Limit, Failed.
    """
    return Run(path, series=series, set=set, layout=layout, raw=raw, memory=memory, threads=threads)


class StepInfo(NamedTuple):
    """Of a step: its number in the run, its set, its step and time as far as they are known, and what is wrong with it."""

    number: int
    set: str
    step: int | None
    time: float | None
    damage: str | None


class Local(NamedTuple):
    """A local array: the values of all ranks one after another, and where those of each begin (one more than ranks)."""

    values: np.ndarray
    offsets: np.ndarray
    ranks: np.ndarray


class Run(Sequence):
    """The steps of a run, oldest first. `run[-1]` is the newest one, `run["DD0042"]` the one of that set."""

    def __init__(self, path: str | os.PathLike[str], **options: Any) -> None:
        self._path = os.fspath(path)
        self._options = options
        o = {"series": "", "set": "", "layout": "", "raw": False, "memory": 0, "threads": 0, **options}
        self._run = _forebay.open_run(
            self._path, o["memory"], o["threads"], o["series"], o["set"], o["layout"], o["raw"]
        )
        self._infos: list[StepInfo] | None = None
        self._times: dict[int, float | None] = {}

    def __reduce__(self):
        return _reopen, (self._path, self._options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    @property
    def path(self) -> str:
        """Where it lies."""
        return self._path

    @property
    def infos(self) -> list[StepInfo]:
        """A StepInfo for each step, damaged ones among them. Reads nothing."""
        if self._infos is None:
            self._infos = [StepInfo(*one) for one in self._run.steps()]
        return self._infos

    @property
    def sets(self) -> list[str]:
        """The names of the sets."""
        return [one.set for one in self.infos]

    @property
    def times(self) -> np.ndarray:
        """The simulation's time of each step, NaN where it is not known. Opens steps that have not told it yet."""
        return np.array([math.nan if time is None else time for time in map(self._time, range(len(self)))])

    def _time(self, number):
        if number not in self._times:
            info = self.infos[number]
            if info.time is None and info.damage is None:
                try:
                    info = StepInfo(*self._run.open(number).info())
                except Error:
                    info = info._replace(time=None)
            self._times[number] = info.time
        return self._times[number]

    def __len__(self) -> int:
        return len(self.infos)

    def __getitem__(self, key: int | str | slice) -> Any:
        """A step by number (from the end where negative) or by the name of its set; a list of steps for a slice.

        Raises:
            IndexError, NotFound: there is no such step. Damaged, Gone, Unsupported: it cannot be opened.
        """
        if isinstance(key, slice):
            return [self[i] for i in range(*key.indices(len(self)))]
        if isinstance(key, str):
            names = self.sets
            if key not in names:
                raise not_found("set", key, names, self._path)
            return Step(self, len(names) - 1 - names[::-1].index(key))
        number = key.__index__()
        if not -len(self) <= number < len(self):
            raise IndexError(f"step {number} of a run of {len(self)}")
        return Step(self, number % len(self))

    def refresh(self) -> int:
        """Looks for steps that were added. How many came."""
        came = self._run.refresh()
        self._infos = None
        return came

    def follow(self, timeout: float | None = None, *, interval: float = 0.2, begin: int = 0) -> Iterator[Step]:
        """Yields the steps from number `begin` on, and waits for those that are added.

        Ends when no step has come for `timeout` seconds (None: never). Looks every `interval` seconds.
        """
        number, since = begin, time.monotonic()
        while True:
            while number < len(self):
                yield self[number]
                number, since = number + 1, time.monotonic()
            self.refresh()
            if number < len(self):
                continue
            if timeout is not None and time.monotonic() - since >= timeout:
                return
            time.sleep(interval)

    def series(self, name: str, index: Any = Ellipsis, *, missing: str = "raise") -> np.ndarray:
        """A part of an array over all steps, read by one plan: an array with the steps as its first dimension.

        Args:
            name: of an array, of the same shape in all steps that have it.
            index: as NumPy has it: integers, slices, '...'.
            missing: "raise", or "nan": NaN in steps that lack the array or cannot be read (of integers: float64).

        Raises:
            NotFound, Damaged, ...: as Step; InvalidArgument: shapes differ.
        """
        if missing not in ("raise", "nan"):
            raise InvalidArgument("missing is 'raise' or 'nan'", "invalid_argument")
        arrays = []
        for number in range(len(self)):
            try:
                arrays.append(self[number][name])
            except (NotFound, Damaged, Gone, Unsupported):
                if missing == "raise":
                    raise
                arrays.append(None)
        there = [one for one in arrays if one is not None]
        if not there:
            raise NotFound(f"no step has an array '{name}'", "not_found", path=self._path)
        first = there[0]
        for one in there:
            if one.shape != first.shape:
                raise InvalidArgument(f"'{name}' has shape {one.shape} in set {one.step.set}, and {first.shape} before")
        selection = Selection(index, first.shape)
        dtype = np.result_type(first.dtype, np.float64) if len(there) < len(arrays) and first.dtype.kind in "iu" else first.dtype
        out = np.full((len(arrays), *selection.count), fill_of(dtype), dtype)
        read = out if dtype == first.dtype else np.zeros(out.shape, first.dtype)
        wanted = [(i, one) for i, one in enumerate(arrays) if one is not None]
        outcomes = _forebay.read([one._request(selection, read[i : i + 1]) for i, one in wanted])
        for (i, _), (_, error) in zip(wanted, outcomes):
            if error is not None and missing == "raise":
                raise error
            if error is not None:
                out[i] = fill_of(dtype)
            elif read is not out:
                out[i] = read[i]
        return selection.arrange_all(out)

    def query(self, expression: str, *, values: bool = False, begin: int = 0, end: int | None = None, first: bool = False) -> Matches:
        """Where a condition holds, such as "Temperature > 4000 and Density < 0.1" (docs/reading.md, "Queries").

        Args:
            expression: the condition.
            values: True: the elements themselves, which are read; False: boxes in which it may hold, from indices alone.
            begin, end: numbers of steps, `end` left out.
            first: stop behind the first step in which it holds.

        Returns:
            A Matches, whose columns are NumPy arrays.

        Raises:
            InvalidArgument: the text makes no sense, which says at which character.
            NotFound: no step has one of the variables.
            Damaged, ...: a step or a box cannot be read; `error.matches` has what was found in the others.
        """
        end = 2**64 - 1 if end is None else end
        return matches_of(self, _forebay.query(self._run, expression, begin, end, values, first), values)

    def __repr__(self):
        return f"<forebay.Run {self._path!r}: {len(self)} steps>"

    def _repr_html_(self):
        rows = "".join(
            f"<tr><td>{one.number}</td><td>{html.escape(one.set)}</td><td>{'' if one.time is None else one.time}</td>"
            f"<td>{html.escape(one.damage or '')}</td></tr>"
            for one in self.infos[-20:]
        )
        head = "<tr><th>number</th><th>set</th><th>time</th><th></th></tr>"
        return f"<p>{html.escape(repr(self))}</p><table>{head}{rows}</table>"


def _reopen(path, options):
    return Run(path, **options)


class Step(Mapping):
    """A step: its arrays by name, and its attributes. Threads may share it."""

    def __init__(self, run: Run, number: int) -> None:
        self.run = run
        self._step = run._run.open(number)
        self._info = StepInfo(*self._step.info())
        self._facts: dict[str, tuple[int, Any]] | None = None
        self._attributes: dict[str, Any] | None = None
        self._opened: tuple[Any, dict[str, tuple[int, int, int]]] | None = None

    def __reduce__(self):
        return _reopen_step, (self.run, self._info.number)

    @property
    def number(self) -> int:
        """Its place in the run, from 0."""
        return self._info.number

    @property
    def set(self) -> str:
        """The name of the set that it lies in; "" for a file that grows."""
        return self._info.set

    @property
    def step(self) -> int | None:
        """The step as the program counts it, or None."""
        return self._info.step

    @property
    def time(self) -> float | None:
        """The simulation's time, or None."""
        return self._info.time

    @property
    def attrs(self) -> dict[str, Any]:
        """All attributes by name, as NumPy values, text as str. The first use of a step reads them."""
        if self._attributes is None:
            values: dict[str, Any] = {}
            for name, kind, count, value, variable in self._step.attributes():
                values[name.decode("utf-8", "surrogateescape")] = variable or attribute_value(kind, count, value)
            self._attributes = values
        return self._attributes

    @property
    def remarks(self) -> list[str]:
        """What ranks disagree about, as sentences."""
        return self._step.remarks()

    def _arrays(self):
        if self._facts is None:
            self._facts = {one[0]: (i, one) for i, one in enumerate(self._step.arrays())}
        return self._facts

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays())

    def __len__(self) -> int:
        return len(self._arrays())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in self._arrays() or name.lstrip("/") in self._arrays())

    def __getitem__(self, name: str) -> Array:
        """The array of that name, with or without a '/' in front. Reads nothing.

        Raises:
            NotFound: there is none; near names are in the hint.
        """
        arrays = self._arrays()
        for word in (name, "/" + name, name.lstrip("/")):
            if word in arrays:
                return Array(self, *arrays[word])
        raise not_found("array", name, list(arrays), self.set or self.run.path)

    def local(self, name: str) -> Local:
        """A local array, or one block after another of any: the values of all ranks, as a Local.

        The blocks are joined along their first dimension; the others must be equal.

        Raises:
            NotFound; InvalidArgument: blocks do not fit together; Damaged, ...
        """
        array = self[name]
        blocks = array.blocks
        rests = {tuple(count[1:]) for _, _, count in blocks}
        if len(rests) > 1:
            raise InvalidArgument(f"the blocks of '{name}' differ in more than their first dimension")
        lengths = [count[0] if count else 1 for _, _, count in blocks]
        offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)
        values = np.empty((int(offsets[-1]), *(rests.pop() if rests else ())), array.dtype)
        requests = [
            (self._step, array._number, "block", i, None, None, values[offsets[i] : offsets[i + 1]])
            for i in range(len(blocks))
        ]
        raise_first(_forebay.read(requests))
        return Local(values, offsets, np.array([rank for rank, _, _ in blocks], np.int64))

    def files(self) -> dict[str, tuple[int, int]]:
        """The original files of the set: a dictionary of (size, rank) by name."""
        return {name: (size, rank) for name, (_, size, rank) in self._files()[1].items()}

    def file(self, name: str | os.PathLike[str]) -> StoredFile:
        """An original file of the set, to be read and sought in without a restore: an io.RawIOBase.

        Raises:
            NotFound: the set has no such file, or the run is not of a store.
        """
        files, table = self._files()
        key = os.fspath(name)
        if key not in table:
            raise not_found("file", key, list(table), self.set)
        number, size, _ = table[key]
        return StoredFile(files, number, size, key)

    def _files(self):
        if not self.set:
            raise NotFound("only sets of a store have files", "not_found", path=self.run.path)
        if self._opened is not None:
            return self._opened
        opened = _forebay.open_files(self.run.path, self.set)
        names = {}
        for number, (name, kind, size, rank) in enumerate(opened.list()):
            if kind == 0:
                names[os.fsdecode(name)] = (number, size, rank)
        self._opened = opened, names
        return self._opened

    def __repr__(self):
        return f"<forebay.Step {self.number} of {self.run.path!r}: set {self.set!r}, {len(self)} arrays>"

    def _repr_html_(self):
        rows = "".join(
            f"<tr><td>{html.escape(name)}</td><td>{html.escape(one[1])}</td><td>{one[4]}</td></tr>"
            for name, (_, one) in self._arrays().items()
        )
        return f"<p>{html.escape(repr(self))}</p><table><tr><th>array</th><th>type</th><th>shape</th></tr>{rows}</table>"


def _reopen_step(run, number):
    return run[number]
