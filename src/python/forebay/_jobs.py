"""Checkpoints of a running job, and the restart from them."""

from __future__ import annotations

import os
import threading
from typing import Any, NamedTuple

from . import _forebay
from ._errors import Error, Failed, InvalidArgument

_clients: dict[tuple[int, str, int, int], Any] = {}
_lock = threading.Lock()


class NoJob(Error):
    """The program does not run under Forebay: $FOREBAY_STAGE is not set."""


def in_job() -> bool:
    """Whether the program runs under `forebay run`, or beside an agent that $FOREBAY_STAGE names."""
    return bool(os.environ.get("FOREBAY_STAGE"))


def _client(comm: Any) -> Any:
    """This rank's connection, made once in a process. `comm` is of mpi4py, or None for a program of one process."""
    stage = os.environ.get("FOREBAY_STAGE")
    if not stage:
        raise NoJob("the program does not run under Forebay: start it by 'forebay run', or set FOREBAY_STAGE", "not_found")
    rank, ranks = (comm.Get_rank(), comm.Get_size()) if comm is not None else (0, 1)
    key = (os.getpid(), stage, rank, ranks)
    with _lock:
        if key not in _clients:
            _clients[key] = _forebay.connect(stage, rank, ranks)
        return _clients[key]


class checkpoint:  # noqa: N801
    """Writes a checkpoint set: all ranks enter with the same name, and write the files that path() gives.

        with fb.checkpoint(comm, "dump_0040", step=40) as c:
            np.save(c.path(f"rank{comm.rank}.npy"), values)

    The set is complete when the block of the last rank has ended; it is drained in the background. A block that an
    exception ends is no part of a set. Threads need a client each: use it in one.

    Args:
        comm: of mpi4py, or None for a program of one process.
        name: of the set, the same on all ranks.
        step: a label, by which the set can be found.
        timeout: seconds to wait where the drain is slower than the checkpoints; None: for ever.

    Raises:
        NoJob: the program does not run under Forebay. InvalidArgument: no name of a set. Failed: there is no agent.
    """

    def __init__(self, comm: Any, name: str, *, step: int, timeout: float | None = None) -> None:
        self._client, self.name, self._step = _client(comm), name, step
        self._timeout = -1.0 if timeout is None else float(timeout)

    def __enter__(self) -> checkpoint:
        self._client.begin(self.name, self._step, self._timeout)
        return self

    def path(self, file: str) -> str:
        """Where to write the file of that relative name, which no other rank uses; its directories are there."""
        return self._client.path(file)

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            self._client.complete()
        else:
            self._client.discard()

    def wait(self, timeout: float | None = None) -> str:
        """Waits until it is known what became of the set: "durable", "cached" or "skipped".

        Raises:
            Failed: the set failed, or the time is over; the text says why.
        """
        state, message = self._client.wait(self.name, -1.0 if timeout is None else float(timeout))
        if state not in ("durable", "cached", "skipped"):
            raise Failed(f"set {self.name} is {state}" + (f": {message}" if message else ""))
        return state


class Restart(NamedTuple):
    """The set that all ranks restart from, and the directory in which this rank finds its files."""

    set: str
    step: int | None
    directory: str

    def path(self, file: str) -> str:
        """Where the file of that name is."""
        if os.path.isabs(file) or ".." in file.split("/"):
            raise InvalidArgument(f"'{file}' is no relative name")
        return os.path.join(self.directory, file)


def restart(comm: Any, *, timeout: float | None = None) -> Restart | None:
    """The newest intact set, brought to where this rank runs: one answer for all ranks, which call it together.

    None: there is nothing to restart from.

    Raises:
        NoJob: the program does not run under Forebay. Failed: a promised set cannot be had, or the time is over.
    """
    found, step, directory, _ = _client(comm).restart(-1.0 if timeout is None else float(timeout))
    return None if found is None else Restart(found, step, directory)
