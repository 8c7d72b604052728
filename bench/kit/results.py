"""Measurements as JSON lines. A run that was stopped goes on where it was: what the file has is not measured again.

Each line carries the identity of the command that was measured (its build), so that a new build starts anew; `latest`
reads the lines of one build only.
"""
import hashlib
import json
import statistics
import time
from datetime import datetime, timezone
from pathlib import Path


def build_of(program):
    with open(program, "rb") as file:  # not as a whole: it would count as the memory of what is measured (measure.py)
        return hashlib.file_digest(file, "sha256").hexdigest()[:12]


class Results:
    def __init__(self, path, build):
        self.path, self.build = Path(path), build
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.lines = [line for line in _read(self.path) if line["build"] == build]
        self._counts = {}
        for line in self.lines:
            self._counts[_text(line["key"])] = self._counts.get(_text(line["key"]), 0) + 1

    def count(self, key):
        return self._counts.get(_text(key), 0)

    def add(self, key, **record):
        line = {"build": self.build, "time": datetime.now(timezone.utc).isoformat(timespec="seconds"), "key": key,
                **record}
        with open(self.path, "a") as file:
            file.write(json.dumps(line) + "\n")
        self.lines.append(line)
        self._counts[_text(key)] = self.count(key) + 1

    def select(self, **fields):
        """The lines whose key has all these fields."""
        return [line for line in self.lines if all(line["key"].get(name) == value for name, value in fields.items())]


def _text(key):
    return json.dumps(key, sort_keys=True)


def _read(path):
    if not path.exists():
        return []
    with open(path) as file:
        return [json.loads(line) for line in file if line.endswith("\n")]


def latest_build(path):
    lines = _read(Path(path))
    return lines[-1]["build"] if lines else None


class Deadline:
    """A bound on the time of a run; measurements that it cuts off are made by the next run."""

    def __init__(self, minutes):
        self._end = time.monotonic() + 60 * minutes

    def passed(self):
        return time.monotonic() > self._end


class Spread:
    """The median of some values, and how far they lie apart."""

    def __init__(self, values):
        values = sorted(values)
        self.count = len(values)
        self.median = statistics.median(values)
        self.least, self.most = values[0], values[-1]
        if self.count > 1:
            self.low, _, self.high = statistics.quantiles(values, n=4, method="inclusive")
        else:
            self.low = self.high = self.median

    @property
    def percent(self):
        """Half the distance from least to most, relative to the median."""
        return 50 * (self.most - self.least) / self.median if self.median else 0.0
