"""What the tests of the command share: running it, and small checkpoint trees made with the standard library alone."""

import json
import math
import os
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

COMMAND = sys.argv[1] if len(sys.argv) > 1 else "forebay"
SOURCE = Path(__file__).resolve().parent.parent.parent

OK, FAILED, USAGE, NOT_FOUND, EXISTS, DAMAGED, NO_SPACE, CHANGED, LIMIT, UNSUPPORTED, DIFFERENT = range(11)


def environment(**extra):
    """A small, fixed environment: tests must not depend on the caller's."""
    base = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LD_LIBRARY_PATH"):
        if name in os.environ:
            base[name] = os.environ[name]
    return base | extra


class Answer:
    def __init__(self, process):
        self.code, self.raw = process.returncode, process.stdout
        self.out = process.stdout.decode("utf-8", "backslashreplace")
        self.err = process.stderr.decode("utf-8", "backslashreplace")

    @property
    def json(self):
        return json.loads(self.raw.decode("utf-8"))


def forebay(*words, env=None, **options):
    command = [COMMAND, *map(os.fspath, map(lambda w: w if isinstance(w, (bytes, os.PathLike)) else str(w), words))]
    return Answer(subprocess.run(command, capture_output=True, timeout=300, env=environment(**(env or {})), **options))


def npy_bytes(values, shape):
    """float64 values as a NumPy file, format version 1.0."""
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {tuple(shape)}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack(f"<{len(values)}d", *values)


def field(rank, side=48):
    return [math.sin(0.01 * i + rank) + 0.001 * (i // side) for i in range(side * side)]


def make_tree(directory, ranks=4, shift=0.0):
    """One .npy file per rank, and files of other sorts beside them."""
    directory.mkdir(parents=True)
    for rank in range(ranks):
        values = [value + shift for value in field(rank)]
        (directory / f"dump.cpu{rank:04}.npy").write_bytes(npy_bytes(values, (48, 48)))
    (directory / "run.log").write_text("step 1\n" * 20)
    (directory / "empty").write_bytes(b"")
    (directory / "sub").mkdir()
    (directory / "sub" / "parameters.txt").write_text("dt = 0.1\n")
    os.symlink("run.log", directory / "latest.log")
    os.chmod(directory / "run.log", 0o640)
    os.utime(directory / "run.log", ns=(1, 1_234_567_890_123_456_789))


def snapshot(directory):
    """Everything of a tree that restore promises to bring back."""
    found = {}
    for root, directories, files in os.walk(os.fsencode(directory)):
        for name in directories + files:
            path = os.path.join(root, name)
            status = os.lstat(path)
            entry = [status.st_mode]
            if os.path.islink(path):
                entry.append(os.readlink(path))
            elif os.path.isfile(path):
                with open(path, "rb") as file:
                    entry += [file.read(), status.st_mtime_ns]
            found[os.path.relpath(path, os.fsencode(directory))] = entry
    return found


class StoreTest(unittest.TestCase):
    """Each test has a temporary directory `work`, a tree `work/DD0008` and an empty place for a store."""

    maxDiff = 4000

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="forebay-cli-")
        self.addCleanup(temporary.cleanup)
        self.work = Path(temporary.name)
        self.tree = self.work / "DD0008"
        self.store = self.work / "store"
        make_tree(self.tree)

    def run_ok(self, *words, **options):
        """Runs the command, which must succeed and, being in a pipe, leave standard error empty."""
        answer = forebay(*words, **options)
        self.assertEqual((OK, ""), (answer.code, answer.err), f"{words}: {answer.out}")
        return answer

    def run_error(self, code, *words, **options):
        """Runs the command, which must fail with `code` and one line on standard error."""
        answer = forebay(*words, **options)
        self.assertEqual(code, answer.code, f"{words}: {answer.out}{answer.err}")
        self.assertEqual(1, answer.err.count("\n"), answer.err)
        self.assertTrue(answer.err.startswith("forebay: "), answer.err)
        return answer

    def pack(self, *words, tree=None):
        return self.run_ok("pack", tree or self.tree, "--store", self.store, *words)

    def containers(self, name="DD0008"):
        return sorted(p for p in (self.store / "sets" / name).iterdir() if p.name != "manifest")


def flip(path, offset, mask=0x10):
    with open(path, "r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ mask]))


def main():
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=1)
