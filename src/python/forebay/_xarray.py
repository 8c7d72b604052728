"""xarray's engine "forebay": a run as a Dataset, whose arrays are read when they are used."""

import os
import threading
from collections import OrderedDict

import numpy as np
import xarray as xr
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.core import indexing

from ._run import open as open_run
from ._types import Selection, fill_of
from . import _forebay


class _Lazy(BackendArray):
    """An array over all steps, or of the only one."""

    def __init__(self, steps, name, shape, dtype, stacked):
        self._steps, self._name, self._stacked = steps, name, stacked
        self.shape, self.dtype = shape, dtype

    def __getitem__(self, key):
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.BASIC, self._read)

    def _read(self, key):
        if not self._stacked:
            return np.asarray(self._steps.array(0, self._name)[key])
        first, rest = key[0], key[1:]
        numbers = np.arange(self.shape[0])[first]
        selection = Selection(rest, self.shape[1:])
        out = np.full((np.size(numbers), *selection.count), fill_of(self.dtype), self.dtype)
        arrays = [self._steps.array(int(number), self._name) for number in np.atleast_1d(numbers)]
        requests = [
            one._request(selection, out[i : i + 1]) for i, one in enumerate(arrays) if one is not None and out[i].size
        ]
        for _, error in _forebay.read(requests):
            if error is not None:
                raise error
        values = selection.arrange_all(out)
        return values if np.ndim(numbers) else values[0]


class _Steps:
    """The steps of a run, opened when they are needed, of which the latest stay open; a pickle opens them again."""

    MOST_OPEN = 16

    def __init__(self, run, numbers):
        self._run, self._numbers, self._lock, self._open = run, numbers, threading.Lock(), OrderedDict()

    def __reduce__(self):
        return _Steps, (self._run, self._numbers)

    def step(self, i):
        with self._lock:
            if i not in self._open:
                self._open[i] = self._run[self._numbers[i]]
            self._open.move_to_end(i)
            while len(self._open) > self.MOST_OPEN:
                self._open.popitem(last=False)
            return self._open[i]

    def array(self, i, name):
        """The array, or None: the step has none of that name."""
        step = self.step(i)
        return step[name] if name in step else None


class ForebayBackend(BackendEntrypoint):
    """`xarray.open_dataset("store", engine="forebay")`: global arrays and scalars over the dimension `time`.

    A run of one step, or with `step=N` the step of that number, has no dimension `time`. Arrays whose shape differs
    between steps, and local ones, are left out; `forebay.open()` reads them.
    """

    description = "Open stores of Forebay, files of process groups and BP files"
    open_dataset_parameters = ("filename_or_obj", "drop_variables", "series", "set", "layout", "step", "raw", "memory")

    def open_dataset(self, filename_or_obj, *, drop_variables=None, series="", set="", layout="", step=None, raw=False, memory=0):  # noqa: A002, E501
        run = open_run(filename_or_obj, series=series, set=set, layout=layout, raw=raw, memory=memory)
        numbers = [i for i, one in enumerate(run.infos) if one.damage is None]
        if step is not None:
            numbers = [range(len(run))[step]]
        steps = _Steps(run, numbers)
        stacked = step is None and len(run) > 1
        dropped = [drop_variables] if isinstance(drop_variables, str) else drop_variables or []
        arrays = {name: one for name, one in _arrays(steps, len(numbers) if stacked else 1).items() if name not in dropped}
        dims, variables = _names_of_dims(arrays), {}
        for name, array in arrays.items():
            shape = ((len(numbers),) if stacked else ()) + array.shape
            data = indexing.LazilyIndexedArray(_Lazy(steps, name, shape, array.dtype, stacked))
            attrs = {key: value for key, value in array.attrs.items() if not key.startswith("_")}
            encoding = {"preferred_chunks": {"time": 1}} if stacked else {}
            variables[name.lstrip("/")] = xr.Variable((("time",) if stacked else ()) + dims[name], data, attrs, encoding)
        coords = _coordinates(run, numbers, variables) if stacked else {}
        return xr.Dataset(variables, coords, {"store": run.path})

    def guess_can_open(self, filename_or_obj):
        try:
            path = os.fspath(filename_or_obj)
        except TypeError:
            return False
        return os.path.isfile(os.path.join(path, "forebay-store"))


def _arrays(steps, count):
    """The arrays that a dataset can have, as the first step that has them does."""
    names, differ = {}, set()
    for i in range(count):
        for name, array in steps.step(i).items():
            if array.form == "local" and array._blocks > 1 or array.dtype.kind in "SV":
                continue
            known = names.setdefault(name, array)
            if known.shape != array.shape or known.dtype != array.dtype:
                differ.add(name)
    return {name: array for name, array in names.items() if name not in differ}


def _names_of_dims(arrays):
    """What the dimensions of each array are called, in which arrays of one shape share those that no file names.

    The shape that most arrays have, of those of most dimensions, has z, y and x.
    """
    unnamed = [one for one in arrays.values() if any(dim.startswith("dim_") for dim in one.dims)]
    shapes = [one.shape for one in unnamed]
    taken = {dim for one in arrays.values() for dim in one.dims if not dim.startswith("dim_")}
    letters = ("z", "y", "x")
    main = max(shapes, key=lambda shape: (len(shape) <= 3, len(shape), shapes.count(shape), shape), default=())
    if taken.isdisjoint(letters) and 1 <= len(main) <= 3:
        of_shapes = {main: letters[-len(main) :]}
    else:
        of_shapes = {}
    for one in unnamed:
        of_shapes.setdefault(one.shape, tuple(f"{one.name.strip('/')}_{i}" for i in range(one.ndim)))
    return {
        name: tuple(
            of_shapes[one.shape][i] if dim.startswith("dim_") else dim.lstrip("/") for i, dim in enumerate(one.dims)
        )
        for name, one in arrays.items()
    }


def _coordinates(run, numbers, variables):
    times = run.times[numbers]
    steps = [run.infos[i].step for i in numbers]
    coords = {"set": ("time", np.array([run.infos[i].set for i in numbers]))}
    if "time" not in variables and not np.isnan(times).any():
        coords["time"] = ("time", times)
    if all(one is not None for one in steps):
        coords["step"] = ("time", np.array(steps, np.int64))
    return coords
