"""`forebay run` around an application, for the tests."""

import sys
import time
from pathlib import Path

from job import Daemon, wait_until

TINY = 20_000  # bytes of a rank's file, as the application writes them

# Starts where --restart says, or writes three sets; then waits to be told to end.
APPLICATION = """
import os, pathlib, random, sys, time
stage, go = pathlib.Path(os.environ["FOREBAY_STAGE"]), pathlib.Path(sys.argv[1])
restart = pathlib.Path(sys.argv[3]).name if "--restart" in sys.argv else None
for name in () if restart else ("dump_0", "dump_1", "dump_2"):
    part = stage / f".{name}.part"
    part.mkdir()
    for rank in range(4):
        (part / f"state.rank{rank:04}.bin").write_bytes(random.Random(f"{name} {rank}").randbytes(20_000))
    part.rename(stage / name)
    time.sleep(0.1)
(go / f"runs-from-{restart}").touch()
while not (go / "end").exists():
    time.sleep(0.05)
"""


class Runs:
    """`forebay run` around APPLICATION."""

    def __init__(self, job):
        self.job, self.go = job, job.directory / "go"
        self.go.mkdir()
        (self.go / "application.py").write_text(APPLICATION)

    def start(self, *options, faults=None):
        return Daemon("run", [
            *(faults.words if faults else ()), self.job.forebay, "run", "--store", self.job.store, "--stage",
            self.job.stages[0], "--complete", "rename", "--backlog", "block", "--restart-args", "--restart {}",
            *options, "--", sys.executable, self.go / "application.py", self.go], self.go / f"{time.monotonic_ns()}.log")

    def wait_for_application(self, starting_from=None):
        wait_until(f"the application runs from {starting_from}", (self.go / f"runs-from-{starting_from}").exists)

    def finish(self, run, seconds):
        """Ends the application. The exit code of the run, after which nobody is left."""
        (self.go / "end").touch()
        wait_until("the run ends", lambda: not run.alive(), seconds)
        assert not self.processes(), self.processes()
        return run.code()

    def processes(self):
        """All whose command lines name something of this test."""
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = path.read_bytes()
            except OSError:
                continue
            if str(self.job.directory).encode() in words:
                found.append(words)
        return found
