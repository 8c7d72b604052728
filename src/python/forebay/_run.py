"""Runs, steps and arrays: what lies in a store, a file of process groups or a BP file, to be read in part."""

from __future__ import annotations

import difflib
import html
import io
import math
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from . import _forebay
from ._errors import Damaged, Error, Gone, InvalidArgument, NotFound, Unsupported
from ._types import Selection, dtype_of, fill_of


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
                raise _not_found("set", key, names, self._path)
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
        return selection_of_all(selection, out)

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
        return Matches._of(self, _forebay.query(self._run, expression, begin, end, values, first), values)

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


def selection_of_all(selection, values):
    """As Selection.arrange(), behind a first dimension that stays whole."""
    return values[(slice(None), *selection._after)]


def _times_of(run, numbers):
    """The time of each of `numbers`; of the steps among them alone, times are looked up."""
    times = np.full(len(run), math.nan)
    for number in np.unique(numbers):
        time = run._time(int(number))
        times[number] = math.nan if time is None else time
    return times[numbers]


def _reopen(path, options):
    return Run(path, **options)


@dataclass(frozen=True, eq=False)
class Matches:
    """What a query has found, as columns of one length.

    number: of the step. rank: that wrote the element. index: in the global array, else in the rank's own; a row for each.
    value: of each variable of the query, a row for each element, or None. count, everywhere: of boxes, else None.
    """

    number: np.ndarray
    time: np.ndarray
    rank: np.ndarray
    index: np.ndarray
    value: np.ndarray | None
    count: np.ndarray | None
    everywhere: np.ndarray | None

    @classmethod
    def _of(cls, run, found, values):
        number = np.frombuffer(found["number"], np.uint64).astype(np.int64)
        rows, dimensions = len(number), found["dimensions"]

        def table(name, dtype, columns):
            return np.frombuffer(found[name], dtype).reshape(rows, columns)

        index = table("index", np.uint64, dimensions).astype(np.int64)
        variables = len(found["values"]) // 8 // rows if rows else 0
        matches = cls(
            number,
            _times_of(run, number),
            np.frombuffer(found["rank"], np.uint32),
            index,
            table("values", np.float64, variables) if values else None,
            None if values else table("count", np.uint64, dimensions).astype(np.int64),
            None if values else np.frombuffer(found["everywhere"], np.uint8).astype(bool),
        )
        for error in found["errors"]:
            error.matches = matches
            raise error
        return matches


class Step(Mapping):
    """A step: its arrays by name, and its attributes. Threads may share it."""

    def __init__(self, run: Run, number: int) -> None:
        self.run = run
        self._step = run._run.open(number)
        self._info = StepInfo(*self._step.info())
        self._facts: dict[str, tuple[int, Any]] | None = None
        self._attributes: dict[str, Any] | None = None

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
                values[name.decode("utf-8", "surrogateescape")] = variable or _attribute(kind, count, value)
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
        raise _not_found("array", name, list(arrays), self.set or self.run.path)

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
        _raise_first(_forebay.read(requests))
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
            raise _not_found("file", key, list(table), self.set)
        number, size, _ = table[key]
        return StoredFile(files, number, size, key)

    def _files(self):
        if not self.set:
            raise NotFound("only sets of a store have files", "not_found", path=self.run.path)
        opened = _forebay.open_files(self.run.path, self.set)
        names = {}
        for number, (name, kind, size, rank) in enumerate(opened.list()):
            if kind == 0:
                names[os.fsdecode(name)] = (number, size, rank)
        return opened, names

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


class Array:
    """An array of a step, which is read when it is indexed as NumPy's are: array[::2, 10:20, -5:]."""

    def __init__(self, step, number, facts):
        self.step = step
        self._number = number
        self.name, self._type, size, self.form, shape, self._blocks, self.level, self._values = facts
        self.dtype = dtype_of(self._type, size)
        self.shape = tuple(shape)

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many elements it has."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements in memory."""
        return self.size * self.dtype.itemsize

    @property
    def dims(self) -> tuple[str, ...]:
        """What the file calls the dimensions, or "dim_0", ..."""
        names = self.step._step.dimension_names(self._number)
        return tuple((names[i] if i < len(names) else "") or f"dim_{i}" for i in range(self.ndim))

    @property
    def attrs(self) -> dict[str, Any]:
        """The attributes of this array alone, by their last names: units, long_name, ..."""
        prefixes = (self.name.rstrip("/") + "/", "/" + self.name.strip("/") + "/")
        return {
            key[len(prefix) :]: value
            for key, value in self.step.attrs.items()
            for prefix in prefixes
            if key.startswith(prefix) and "/" not in key[len(prefix) :]
        }

    @property
    def units(self) -> str:
        """Its attribute `units`, or ""."""
        return str(self.attrs.get("units", ""))

    @property
    def blocks(self) -> list[tuple[int, tuple[int, ...], tuple[int, ...]]]:
        """(rank, begin, count) of each block that was written, in the order of writing. Reads indices alone."""
        return self.step._step.blocks(self._number)

    @property
    def statistics(self) -> dict[str, float] | None:
        """What indices know of the values: a dictionary (count, min, max, mean, std, nans, ...), or None."""
        if self._values is None:
            return None
        count, low, high, total, squares, nans, infinities, holes = self._values
        mean = total / count if count else math.nan
        deviation = math.sqrt(max(squares / count - mean * mean, 0)) if count else math.nan
        return {"count": count, "min": low, "max": high, "mean": mean, "std": deviation, "nans": nans,
                "infinities": infinities, "holes": holes}  # fmt: skip

    def _request(self, selection, out):
        return (self.step._step, self._number, "box", selection.begin, selection.count, selection.strides(), out)

    def _box_shape(self):
        if self.form == "local" and self._blocks > 1:
            raise InvalidArgument(
                f"'{self.name}' is local: each of its {self._blocks} blocks is an array of its own; use local()"
            )
        return self.shape

    def __getitem__(self, key: Any) -> Any:
        """Reads what basic indexing selects. Elements that no rank has written are NaN, or 0 of integers.

        Raises:
            IndexError: as NumPy; InvalidArgument: the array is local; Damaged, Gone, Limit, Failed.
        """
        selection = Selection(key, self._box_shape())
        out = np.full(selection.count, fill_of(self.dtype), self.dtype)
        if out.size or not self.shape:
            _raise_first(_forebay.read([self._request(selection, out)]))
        values = selection.arrange(out)
        if self.form == "scalar" and self.dtype == np.dtype("S1"):
            return _text(values.tobytes())
        return values if values.ndim else values[()]

    def read_into(self, out: np.ndarray, key: Any = Ellipsis) -> None:
        """Reads array[key] into `out`, which may be a part of a larger array. Elements that no rank has written stay.

        Raises:
            InvalidArgument: `out` has another shape or dtype. Otherwise as array[key].
        """
        selection = Selection(key, self._box_shape())
        if not isinstance(out, np.ndarray) or out.shape != selection.shape or out.dtype != self.dtype:
            raise InvalidArgument(f"an array of shape {selection.shape} and type {self.dtype} is needed")
        direct = out.flags.c_contiguous and all(after == slice(None) or after == 0 for after in selection._after)
        dense = out.reshape(selection.count) if direct else np.empty(selection.count, self.dtype)
        if not direct:
            dense[...] = np.nan if self.dtype.kind in "fc" else 0
            selection.arrange(dense)[...] = out
        if dense.size:
            _raise_first(_forebay.read([self._request(selection, dense)]))
        if not direct:
            out[...] = selection.arrange(dense)

    def points(self, indices: Any) -> np.ndarray:
        """The elements at `indices`, a row of integers for each.

        Raises:
            InvalidArgument: a row has not one index for each dimension, or lies outside.
        """
        rows = np.asarray(indices)
        if rows.ndim != 2 or rows.shape[1] != self.ndim or rows.dtype.kind not in "iu":
            raise InvalidArgument(f"rows of {self.ndim} integers are needed")
        rows = np.where(rows < 0, rows + np.array(self.shape), rows) if rows.size else rows
        if rows.size and (rows < 0).any():
            raise InvalidArgument("an index is outside of the array")
        out = np.full(len(rows), fill_of(self.dtype), self.dtype)
        dense = np.ascontiguousarray(rows, np.uint64)
        if len(rows):
            _raise_first(_forebay.read([(self.step._step, self._number, "points", self.ndim, dense, out)]))
        return out

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("values of a store are read, and cannot be had without a copy")
        values = np.asarray(self[...])
        return values if dtype is None else values.astype(dtype, copy=False)

    def __len__(self):
        if not self.shape:
            raise TypeError("a scalar has no length")
        return self.shape[0]

    def __reduce__(self):
        return _reopen_array, (self.step, self.name)

    def __repr__(self):
        return f"<forebay.Array {self.name!r}: {self.dtype}, {self.form}, shape {self.shape}>"


def _reopen_array(step, name):
    return step[name]


class StoredFile(io.RawIOBase):
    """The bytes of an original file, which are decoded when they are read."""

    def __init__(self, files, number, size, name):
        self._files, self._number, self._size, self.name, self._at = files, number, size, name, 0

    def readable(self):
        return True

    def seekable(self):
        return True

    def tell(self):
        return self._at

    def seek(self, offset, whence=io.SEEK_SET):
        at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        if at < 0:
            raise ValueError("a place before the file's first byte")
        self._at = at
        return at

    def readinto(self, buffer):
        count = self._files.read_into(self._number, self._at, buffer)
        self._at += count
        return count


def _attribute(kind, count, value):
    if kind in ("string", "strings"):
        texts = [_text(one) for one in value.split(b"\0")]
        return texts[0] if count <= 1 else texts[:count]
    dtype = dtype_of(kind, len(value) // count if count else 1)
    values = np.frombuffer(value, dtype)
    return values[0] if count == 1 else values


def _text(value):
    return bytes(value).rstrip(b"\0").decode("utf-8", "surrogateescape")


def _raise_first(outcomes):
    for _, error in outcomes:
        if error is not None:
            raise error


def _not_found(what, name, names, where):
    near = difflib.get_close_matches(str(name), names, 3)
    hint = "near: " + ", ".join(near) if near else ""
    message = f"{where}: there is no {what} '{name}'" + (f" ({hint})" if hint else "")
    return NotFound(message, "not_found", f"there is no {what} '{name}'", where, None, hint)
