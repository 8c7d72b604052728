"""What the tests of the promises share: running the command, measuring it, and comparing trees."""

import hashlib
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

COMMAND = sys.argv[1] if len(sys.argv) > 1 else "forebay"
SOURCE = Path(__file__).resolve().parent.parent.parent
SKIP = 77

OK, FAILED, USAGE, NOT_FOUND, EXISTS, DAMAGED, NO_SPACE, CHANGED, LIMIT, UNSUPPORTED, DIFFERENT = range(11)

SCHEMES = ["auto", "agnostic", "agnostic-block", "aware", "aware-block"]
PROFILES = ["none", "gzip", "paper", "fast", "balanced", "max"]


class Answer:
    def __init__(self, code, out, err, usage):
        self.code, self.out, self.err = code, out, err
        self.peak_bytes = usage.ru_maxrss * 1024


def forebay(*words, **options):
    """Runs the command to its end. The answer has the peak of its resident memory."""
    command = [os.fsencode(COMMAND), *(w if isinstance(w, bytes) else os.fsencode(str(w)) for w in words)]
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(command, stdout=out, stderr=err, env=environment, **options)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return Answer(process.returncode, *(f.read().decode("utf-8", "backslashreplace") for f in (out, err)), usage)


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()


def snapshot(directory):
    """Everything of a tree that a restore promises to bring back, by name."""
    found = {}
    top = os.fsencode(directory)
    for root, directories, files in os.walk(top):
        for name in directories + files:
            path = os.path.join(root, name)
            status = os.lstat(path)
            entry = (oct(status.st_mode), status.st_mtime_ns, status.st_size if os.path.isfile(path) else 0)
            if os.path.islink(path):
                entry += (os.readlink(path),)
            elif os.path.isfile(path):
                entry += (digest(path),)
            found[os.path.relpath(path, top)] = entry
    return found


def differences(a, b):
    return [f"{name!r}: {a.get(name)} is now {b.get(name)}" for name in sorted(a.keys() | b.keys()) if a.get(name) != b.get(name)]


def flip(path, offset, bit):
    with open(path, "r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ (1 << bit)]))


class PromiseTest(unittest.TestCase):
    """Each test has a temporary directory `work` and a place for a store."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="forebay-promise-", ignore_cleanup_errors=True)
        self.addCleanup(temporary.cleanup)
        self.work = Path(temporary.name)
        self.store = self.work / "store"

    def ok(self, *words, **options):
        answer = forebay(*words, **options)
        self.assertEqual(OK, answer.code, f"{words}: {answer.out}{answer.err}")
        return answer

    def containers(self, name):
        return sorted(p for p in (self.store / "sets" / name).iterdir() if p.name != "manifest")

    def comes_back(self, tree, *words, name="set"):
        """Packs `tree` with the options `words`, restores it, compares, and removes both again."""
        before = snapshot(tree)
        self.ok("pack", tree, "--store", self.store, "--name", name, *words)
        self.ok("verify", self.store, name)
        target = self.work / "restored"
        self.ok("restore", name, "--store", self.store, "--to", target)
        self.assertEqual([], differences(before, snapshot(target)), words)
        self.assertEqual([], differences(before, snapshot(tree)), "the sources")
        subprocess.run(["chmod", "-R", "u+w", target], check=True)
        subprocess.run(["rm", "-rf", target, self.store], check=True)


def main():
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=1)
