"""kill -9 and I/O errors at system calls of the command: command_crash.py KILL_AT FOREBAY [MOST]

MOST calls at most, spread evenly, are interfered with for each operation and sort of interference (default 12; 0 means
all of them, which takes minutes)."""

import os
import stat
import struct
import subprocess

import harness
from harness import Failure, expect

SLOWEST = 10 ** 9


def make_source(path):
    """Eight ranks' files, a directory, an empty file and a link."""
    os.makedirs(os.path.join(path, "sub"))
    for rank in range(8):
        values = [rank + i / 7 for i in range(3000)]
        header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (3000,), }".ljust(117) + b"\n"
        with open(os.path.join(path, f"dump.{rank:04}.npy"), "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
            file.write(struct.pack("<3000d", *values))
    with open(os.path.join(path, "sub", "notes.txt"), "w") as file:
        file.write("plain text\n" * 50)
    open(os.path.join(path, "sub", "empty"), "w").close()
    os.symlink("dump.0000.npy", os.path.join(path, "first"))


def tree(path):
    """Everything that a restore must bring back."""
    found = {}
    for directory, names, files in os.walk(path):
        for name in names + files:
            full = os.path.join(directory, name)
            info = os.lstat(full)
            content = None
            if stat.S_ISLNK(info.st_mode):
                content = os.readlink(full)
            elif stat.S_ISREG(info.st_mode):
                with open(full, "rb") as file:
                    content = file.read()
            found[os.path.relpath(full, path)] = (info.st_mode, info.st_mtime_ns, content)
    return found


class Forebay:
    def __init__(self, path, bed):
        self.path = os.path.abspath(path)
        self.bed = bed
        self.source = bed.path("source")
        make_source(self.source)
        self.files = tree(self.source)

    def command(self, *arguments):
        return [self.path, *arguments]

    def pack(self, store, name, step, *words):
        return self.command("pack", self.source, "--store", store, "--name", name, "--step", str(step), "--group-size",
                            "4", "--threads", "2", "--memory", "256M", *words)

    def restore(self, store, name, target):
        return self.command("restore", name, "--store", store, "--to", target, "--overwrite", "--threads", "2")

    def run(self, command):
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=harness.TIMEOUT)
        if done.returncode != 0:
            raise Failure(f"afterwards {command[1:]} exits with {done.returncode}: {done.stderr.strip()}")

    def sets(self, store):
        """The names of the sets, all of which must be intact."""
        names = set(os.listdir(os.path.join(store, "sets")))
        self.run(self.command("verify", store))
        return names

    def check_restores(self, store, name):
        target = self.bed.fresh("check")
        self.run(self.restore(store, name, target))
        expect(tree(target) == self.files, f"{name} does not restore byte for byte")


def check_end(forebay, result, path):
    expect(result.exit_code is not None or result.signal == 9, "crashed")
    expect(result.exit_code != 70, "an internal error")
    expect(tree(forebay.source) == forebay.files, "the source was touched")
    if result.exit_code not in (0, None):
        expect(path in result.stderr, "the message does not name a file")


def check_next_pack(forebay, store):
    forebay.run(forebay.pack(store, "next", 9))
    expect(os.listdir(os.path.join(store, "staging")) == [], "something is left in staging")
    forebay.check_restores(store, "next")


def crash_pack(bed, forebay, template, most, *words):
    """A pack into a store with one set, or into one that it makes."""
    store = bed.path("store")

    def check(result):
        check_end(forebay, result, store)
        made = os.path.exists(os.path.join(store, "forebay-store"))
        sets = forebay.sets(store) if made else set()
        if result.exit_code is not None:
            expect(("new" in sets) == (result.exit_code == 0), "the exit code does not tell whether the set is there")
        if template:
            expect("old" in sets, "an old set is gone")
            forebay.check_restores(store, "old")
        check_next_pack(forebay, store)
        if "new" in sets:
            forebay.check_restores(store, "new")

    bed.each_interference(forebay.pack(store, "new", 2, *words), lambda: bed.fresh("store", template), check, most)


def fail_reading(bed, forebay, template, most):
    """A source or a store that cannot be read."""
    store, target = bed.path("store"), bed.path("target")

    def check_pack(result):
        check_end(forebay, result, forebay.source)
        expect(os.listdir(os.path.join(store, "staging")) == [], "something is left in staging")
        expect(result.exit_code != 0, "an unreadable source goes unnoticed")
        expect(os.listdir(os.path.join(store, "sets")) == ["old"], "something was committed")

    def check_restore(result):
        check_end(forebay, result, template)
        files = tree(target) if os.path.isdir(target) else {}
        expect(files == forebay.files or result.exit_code != 0, "an unreadable store goes unnoticed")

    bed.each_interference(forebay.pack(store, "new", 2), lambda: bed.fresh("store", template), check_pack, most,
                          ("EIO",), ("--reads-under", forebay.source))
    bed.each_interference(forebay.restore(template, "old", target), lambda: bed.fresh("target"), check_restore, most,
                          ("EIO",), ("--reads-under", template))


def crash_restore(bed, forebay, template, most):
    target = bed.path("target")

    def check(result):
        check_end(forebay, result, target)
        for name, (mode, _, content) in (tree(target) if os.path.isdir(target) else {}).items():
            if not name.startswith(".forebay-restore") and not stat.S_ISDIR(mode):
                expect(content == forebay.files[name][2], f"{name} is not whole")
        forebay.run(forebay.restore(template, "old", target))
        expect(tree(target) == forebay.files, "the next restore is not byte for byte, or something is left")

    bed.each_interference(forebay.restore(template, "old", target), lambda: bed.fresh("target"), check, most)


def crash_prune(bed, forebay, template, most):
    store = bed.path("store")

    def check(result):
        check_end(forebay, result, store)
        sets = forebay.sets(store)
        expect("old" in sets, "the newest set is gone")
        expect(result.exit_code != 0 or sets == {"old"}, "sets that should be gone are still there")
        forebay.check_restores(store, "old")
        check_next_pack(forebay, store)

    prune = forebay.command("prune", store, "--keep-last", "1")
    bed.each_interference(prune, lambda: bed.fresh("store", template), check, most)


def crash_remove(bed, forebay, template, most):
    """What the others need of a set is put into them, one after the other, before it goes."""
    store = bed.path("store")

    def check(result):
        check_end(forebay, result, store)
        sets = forebay.sets(store)
        expect({"b", "c", "old"} <= sets, "a set that was not named is gone")
        if result.exit_code is not None:
            expect(("a" not in sets) == (result.exit_code == 0) or "deleted" in result.stderr,
                   "the exit code does not tell whether the set is gone")
        for name in ("b", "c"):
            forebay.check_restores(store, name)
        check_next_pack(forebay, store)

    remove = forebay.command("remove", store, "a", "--rebase", "--memory", "256M")
    bed.each_interference(remove, lambda: bed.fresh("store", template), check, most)


def test(arguments):
    kill_at, program = arguments[:2]
    most = int(arguments[2]) if len(arguments) > 2 else 12
    most = most or SLOWEST
    with harness.Harness(kill_at) as bed:
        forebay = Forebay(program, bed)
        one, three = bed.path("one"), bed.path("three")
        forebay.run(forebay.pack(one, "old", 1))
        # b refers to frames of a: if a went first, b would be damaged for a while.
        for name, step, words in (("a", 0, ()), ("b", 0, ("--parent", "a")), ("old", 1, ())):
            forebay.run(forebay.pack(three, name, step, *words))
        crash_pack(bed, forebay, None, most)
        crash_pack(bed, forebay, one, most)
        crash_pack(bed, forebay, one, most, "--parent", "old")
        fail_reading(bed, forebay, one, most)
        crash_restore(bed, forebay, one, most)
        crash_prune(bed, forebay, three, most)
        # c refers to frames of a as well, for references lead to where the bytes are.
        forebay.run(forebay.pack(three, "c", 2, "--parent", "b"))
        crash_remove(bed, forebay, three, most)
        print(f"{bed.runs} runs with interference: old sets whole, no partial set, nothing left behind")


if __name__ == "__main__":
    harness.main(test)
