"""What bench/growth/ranks measures: its cases, as values, and how one is carried out."""
import json
import random
import re
import shutil
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from kit import measure, workspace  # noqa: E402

VARIABLES = 10_000   # of a file in the case "variables"
VALUES = 16          # of a variable there
BUDGET = 64          # MiB, there
SMALL_VALUES = 200   # of the variable of a small file
OPERATIONS = ("pack", "verify", "restore", "restore one", "ls", "ls -v --json", "info", "diff", "extract one")


@dataclass(frozen=True)
class Case:
    kind: str  # files or variables
    files: int
    variables: int  # of each file
    values: int     # float64, of each variable
    memory: int     # MiB; 0: the command's default

    def __str__(self):
        return f"{self.files} files of {self.variables} variables"

    @property
    def key(self):
        return {"kind": self.kind, "files": self.files, "variables": self.variables, "memory": self.memory}


def file_cases(counts):
    return [Case("files", count, 1, SMALL_VALUES, 0) for count in counts]


def variable_cases(counts):
    return [Case("variables", count, VARIABLES, VALUES, BUDGET) for count in counts]


def make_files(directory, files, variables, values_each):
    """Safetensors files of smooth numbers with noise, the same for the same arguments."""
    header = json.dumps({f"Grid{i // 20:08}/field{i % 20}": {
        "dtype": "F64", "shape": [values_each], "data_offsets": [8 * values_each * i, 8 * values_each * (i + 1)]}
        for i in range(variables)}).encode()
    header += b" " * (-len(header) % 8)
    count = values_each * variables
    noise = random.Random(1)
    directory.mkdir()
    values = [i / count + 1e-4 * noise.random() for i in range(count)]
    packed = struct.pack(f"<{count}d", *values)
    for rank in range(files):
        first = struct.pack("<d", float(rank))
        (directory / f"rank.{rank:06}.safetensors").write_bytes(
            struct.pack("<Q", len(header)) + header + first + packed[8:])


def calls_of(words, work):
    """How many system calls a command makes, in all its threads."""
    summary = work / "calls"
    subprocess.run(["strace", "-f", "-c", "-o", summary, *words], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    return int(re.search(r"(\d+)\s+(?:\d+\s+)?total$", summary.read_text().strip()).group(1))


def aside(*words):
    """Does one of the last lines' actions in a process of its own: this one's memory would count as the commands'."""
    subprocess.run([sys.executable, "-B", __file__, *map(str, words)], check=True)


class Runner:
    def __init__(self, forebay, work, case):
        self._forebay, self._work, self._case = forebay, work, case
        self._source, self._store, self._back = work / "source", work / "store", work / "back"

    def run(self, counts_calls):
        aside("make", self._source, self._case.files, self._case.variables, self._case.values)
        record = {"operations": {}, "calls": {}}
        for name in OPERATIONS:
            words = self._words(name)
            self._clear(name)
            # What it prints would count as this program's memory, and so as the next one's.
            usage = measure.run("exec " + " ".join(map(str, words)) + " > /dev/null")
            record["operations"][name] = usage.record()
            if name == "restore":
                self._compare()
            if counts_calls and shutil.which("strace"):
                self._clear(name)
                record["calls"][name] = calls_of(list(map(str, words)), self._work)
        return record

    def _clear(self, name):
        workspace.remove(*([self._store] if name == "pack" else []), self._back)

    def _compare(self):
        aside("compare", self._source, self._back)

    def _words(self, name):
        one = f"rank.{self._case.files // 2:06}.safetensors"
        store, to = ("--store", self._store), ("--to", self._back)
        variable = "/Grid00000000/field0"
        group = ("--group-size", 1) if self._case.kind == "variables" else ()
        words = {
            "pack": ("pack", self._source, *store, "--name", "set", "--profile", "fast", *group),
            "verify": ("verify", self._store, "set"),
            "restore": ("restore", "set", *store, *to),
            "restore one": ("restore", "set", *store, *to, "--only", one),
            "ls": ("ls", self._store, "set"),
            "ls -v --json": ("ls", self._store, "set", "-v", "--json"),
            "info": ("info", self._store, "set"),
            "diff": ("diff", "set", "set", *store),
            "extract one": ("extract", "set", variable, *store, "--rank", self._case.files // 2, *to),
        }[name]
        memory = ("--memory", f"{self._case.memory}M") if self._case.memory else ()
        return (self._forebay, *words, *memory)


if __name__ == "__main__":
    action, *words = sys.argv[1:]
    if action == "make":
        make_files(Path(words[0]), *map(int, words[1:]))
    elif said := workspace.difference(*words):
        raise SystemExit(f"wrong bytes: {said}")
