"""What queries find."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


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


def _times_of(run, numbers):
    """The time of each of `numbers`; of the steps among them alone, times are looked up."""
    times = np.full(len(run), math.nan)
    for number in np.unique(numbers):
        time = run._time(int(number))
        times[number] = math.nan if time is None else time
    return times[numbers]


def matches_of(run, found, values):
    """What the extension module has found, as a Matches. Raises the first error, with the Matches as its attribute."""
    number = np.frombuffer(found["number"], np.uint64).astype(np.int64)
    rows, dimensions = len(number), found["dimensions"]

    def table(name, dtype, columns):
        return np.frombuffer(found[name], dtype).reshape(rows, columns)

    index = table("index", np.uint64, dimensions).astype(np.int64)
    variables = len(found["values"]) // 8 // rows if rows else 0
    matches = Matches(
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
