"""What the crash tests share: running a command with interference (see kill_at.cc) and reporting what broke."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

TIMEOUT = 60  # seconds for one run: interference must never make a command hang


class Failure(Exception):
    pass


class Result:
    def __init__(self, report, stdout, stderr):
        self.calls = report["calls"]
        self.interfered = report["interfered"]
        self.exit_code = report["exit_code"]
        self.signal = report["signal"]
        self.stdout = stdout
        self.stderr = stderr


class Harness:
    def __init__(self, kill_at):
        self.kill_at = os.path.abspath(kill_at)
        # In memory where possible: killing a process tests no disk, and fsync is slow on a real one.
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.directory = tempfile.mkdtemp(prefix="forebay-crash-", dir=memory)
        self.runs = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.directory, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.directory, name)

    def fresh(self, name, template=None):
        """An absent path, or a copy of a directory."""
        path = self.path(name)
        shutil.rmtree(path, ignore_errors=True)
        if template:
            shutil.copytree(template, path, symlinks=True)
        return path

    def run(self, command, interference=(), cwd=None):
        report = self.path("report.json")
        try:
            done = subprocess.run([self.kill_at, *interference, "--report", report, "--", *command], cwd=cwd,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            raise Failure("hangs")
        self.runs += 1
        with open(report) as file:
            return Result(json.load(file), done.stdout, done.stderr.strip())

    def each_interference(self, command, prepare, check, most, sorts=("kill", "EIO", "ENOSPC", "full"), counted=()):
        """For each sort of interference and `most` of the calls at most: prepare(), run, check(result)."""
        prepare()
        calls = self.run(command, counted).calls
        if calls == 0:
            raise Failure("no system call was counted")
        stride = max(1, -(-calls // most))
        for sort in sorts:
            # Another offset for each sort, so that sampling does not always meet the same calls.
            for at in range(1 + len(sort) % stride, calls + 1, stride):
                interference = {"kill": ("--kill", str(at)), "full": ("--full-from", str(at))}.get(
                    sort, ("--fail", sort, "--at", str(at)))
                prepare()
                result = self.run(command, (*counted, *interference))
                try:
                    check(result)
                except Failure as failure:
                    raise Failure(f"{sort} at call {at} of {calls} ({result.interfered}): {failure}; exit code "
                                  f"{result.exit_code}, signal {result.signal}, said: {result.stderr!r}") from None


def expect(condition, what):
    if not condition:
        raise Failure(what)


def main(test):
    """Runs test(arguments) and turns a Failure into an exit code."""
    try:
        test(sys.argv[1:])
    except Failure as failure:
        sys.exit(f"FAILED: {failure}")
