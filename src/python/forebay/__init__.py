"""Forebay: checkpoint sets of parallel simulations, packed, restored, and read in part (docs/python.md)."""

from ._array import Array
from ._compress import compress, decompress
from ._errors import Damaged, Error, Exists, Failed, Gone, InvalidArgument, Limit, NotFound, Unsupported
from ._forebay import version as __version__
from ._jobs import NoJob, Restart, checkpoint, in_job, restart
from ._matches import Matches
from ._run import Local, Run, Step, StepInfo, open  # noqa: A004
from ._verbs import (
    FileDifference,
    Packed,
    Pruned,
    Restored,
    SetInfo,
    VariableDifference,
    Verified,
    diff,
    pack,
    prune,
    restore,
    sets,
    verify,
)

__all__ = [
    "Array",
    "Damaged",
    "Error",
    "Exists",
    "Failed",
    "FileDifference",
    "Gone",
    "InvalidArgument",
    "Limit",
    "Local",
    "Matches",
    "NoJob",
    "NotFound",
    "Packed",
    "Pruned",
    "Restart",
    "Restored",
    "Run",
    "SetInfo",
    "Step",
    "StepInfo",
    "Unsupported",
    "VariableDifference",
    "Verified",
    "__version__",
    "checkpoint",
    "compress",
    "decompress",
    "diff",
    "in_job",
    "open",
    "pack",
    "prune",
    "restart",
    "restore",
    "sets",
    "verify",
]
