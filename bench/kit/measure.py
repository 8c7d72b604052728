"""Runs one command and tells what it cost.

The figures come from wait4(2), so they cover the command and every child that it waited for: CPU time is the sum of
all of them, peak memory the largest of them (not the sum: a pipeline's true peak is larger than its figure).

A new process inherits the peak memory of the one that started it, so a script that measures memory must stay small
itself: numpy, h5py and matplotlib are imported by the parts that need them, after the measurements or in a process of
their own.
"""
import os
import subprocess
import tempfile
import time
from dataclasses import dataclass


class CommandFailed(Exception):
    pass


@dataclass(frozen=True)
class Usage:
    wall: float  # seconds
    cpu: float  # seconds, user and system
    rss: int  # bytes, peak
    output: str  # what it wrote to standard output

    def record(self):
        return {"wall": round(self.wall, 6), "cpu": round(self.cpu, 6), "rss": self.rss}


# Settings of the user that would change what the commands do.
_FOREIGN = ("FOREBAY_STORE", "GZIP", "PIGZ", "ZSTD_CLEVEL", "ZSTD_NBTHREADS", "TAR_OPTIONS")


def _environment():
    environment = {name: value for name, value in os.environ.items() if name not in _FOREIGN}
    environment["LC_ALL"] = "C"
    return environment


def run(command, cwd=None):
    """Runs a list of words, or a string with bash. Raises CommandFailed unless it ends with 0."""
    words = command if isinstance(command, list) else ["bash", "-o", "pipefail", "-ec", command]
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, cwd=cwd,
                                   env=_environment())
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode(errors="replace")
        if process.returncode != 0:
            errors.seek(0)
            said = errors.read().decode(errors="replace").strip()[-2000:] or text[-2000:]
            raise CommandFailed(f"{command}: exit {process.returncode}: {said}")
    return Usage(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, text)
