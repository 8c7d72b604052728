"""Cases of tests/faults: programs that write through Forebay's libraries."""

import json
import os
import re
import shutil
import subprocess

from case import Case, Failure, RANKS, SECONDS, Scratch, hdf5, tree


class Ranks(Case):
    """Ranks that write a step by a method of adaptable I/O, after two that are there."""

    def __init__(self, fixture, method, mode, target="run.bp", read=None, **more):
        name = f"method.{method.partition(':')[0]}.{mode}"
        super().__init__(name, fixture, [], target, read or self.read_steps)
        self.method, self.mode, self.more = method, mode, {"count": 3000, **more}

    def step(self, mode, first, steps=1):
        words = {"threads": RANKS, "method": self.method, "file": self.target, "mode": mode, "first": first, "steps": steps,
                 **self.more}
        return [self.fixture.ranks, "write", *(f"{name}={value}" for name, value in words.items())]

    def prepare(self, directory):
        done = subprocess.run(self.step("w", 1, 2), cwd=directory, capture_output=True, text=True, timeout=SECONDS, check=False)
        if done.returncode != 0 or len(done.stdout.split()) != 2 * RANKS:
            raise Failure(f"the first steps: {done.stdout} {done.stderr}")

    def command(self):
        return self.step(self.mode, 3)

    def next(self, is_new):
        return None if is_new and self.mode == "a" else self.step(self.mode, 3)

    def read_steps(self, path):
        done = subprocess.run([self.fixture.ranks, "check", path], capture_output=True, text=True, timeout=SECONDS, check=False)
        if done.returncode != 0:
            raise Failure(f"the file cannot be read: {done.stderr.strip()}")
        return sorted(done.stdout.splitlines())

    def names(self, directory):
        """Subfiles that replace others have another name than these."""
        return {re.sub(r"(\.\d+)\.1$", r"\1", name) for name in super().names(directory)}

    def code(self, result):
        """1 if a rank heard of a failure; all of them have to come to an end."""
        lines = result.stdout.splitlines()
        done = sum(line.endswith(" done") for line in lines)
        if result.signal == 0 and done != RANKS:
            raise Failure(f"{done} of {RANKS} ranks come to an end: {result.stdout}{result.stderr}")
        return 1 if len(lines) > done else 0

    def says(self, result):
        return True

    def is_whole(self, found, old, new):
        """An appended step has what ranks wrote that did not fail; HDF5 files do not have it then."""
        return found in (old, new) or self.mode == "a" and isinstance(found, list) and set(old) < set(found) < set(new)

    def is_right_next(self, after, found, old, new):
        return after == new or old != found and isinstance(found, list) and set(found) < set(after)

    def said(self, result):
        return result.stdout + result.stderr


class Merged(Ranks):
    """Blocks are those of several ranks."""

    def __init__(self, fixture, mode):
        super().__init__(fixture, "VAR_MERGE:io_method=MPI", mode, read=self.read_arrays)

    def read_arrays(self, path):
        """The steps that were there before an append, and all."""
        return self.fixture.arrays(path, "--steps", "0:2") if self.mode == "a" else None, self.fixture.arrays(path)

    def is_whole(self, found, old, new):
        return found in (old, new) or self.mode == "a" and found[0] == old[0]

    def is_right_next(self, after, found, old, new):
        return after == new or found != old and after[0] == old[0]


class Stored(Ranks):
    """Each step is a set of a store, and staged before."""

    def __init__(self, fixture, mode):
        super().__init__(fixture, "FOREBAY:store=store;stage=stage;profile=fast;threads=1", mode)

    def prepare(self, directory):
        os.mkdir(os.path.join(directory, "stage"))
        super().prepare(directory)

    def may_change(self, name):
        return name in ("store", "stage")

    def content(self, directory):
        """What the ranks wrote, set by set; one that was stored and is staged again counts once."""
        return sorted({tuple(line for name in sorted(files) for line in self.lines(files[name]))
                       for files in self.fixture.sets(os.path.join(directory, "store")).values()})

    def lines(self, content):
        with Scratch(self.fixture) as scratch:
            path = os.path.join(scratch, "part.pg")
            with open(path, "wb") as file:
                file.write(content)
            return self.read_steps(path)

    def is_whole(self, found, old, new):
        return found in (old, new)

    def next(self, is_new):
        return self.step(self.mode, 3)

    def names(self, directory):
        return {name for name in os.listdir(os.path.join(directory, "stage")) if not name.startswith("forebay-io")}


class ScrProgram(Case):
    """A program with SCR's interface that writes its second checkpoint straight into the prefix."""

    under = "prefix/.scr"  # the files of the checkpoint are the program's own affair

    def __init__(self, fixture, program):
        super().__init__("scr.program", fixture, [], "prefix")
        self.program = program

    bypass, launcher = 1, ""

    def write(self):
        return ["sh", "-c", f"cd prefix; SCR_PREFIX=$PWD SCR_CACHE_BASE=$PWD/../cache SCR_CACHE_BYPASS={self.bypass} SCR_FLUSH=1 SCR_RUNS=1 "
                f"FOREBAY_COMMAND={self.fixture.forebay} exec {self.launcher} {self.program} --sets 1"]

    def command(self):
        return self.write()

    def prepare(self, directory):
        for name in ("prefix", "cache"):
            os.mkdir(os.path.join(directory, name))
        done = subprocess.run(self.write(), cwd=directory, capture_output=True, text=True, timeout=SECONDS, check=False)
        if done.returncode != 0 or "completed ckpt.1" not in done.stdout:
            raise Failure(f"the first checkpoint: {done.stdout}{done.stderr}")

    def may_change(self, name):
        return name in ("prefix", "cache")

    def content(self, directory):
        """The checkpoints that a restart would find, with their files."""
        prefix = os.path.join(directory, "prefix")
        listed = json.loads(self.fixture.run("scr", "index", "--json", prefix))["sets"]
        return {entry["name"]: tree(os.path.join(prefix, entry["name"])) for entry in listed if entry["valid"]}

    def code(self, result):
        return 0 if "completed ckpt.2" in result.stdout.splitlines() else 1

    def says(self, result):
        return bool(result.stdout + result.stderr)

    def said(self, result):
        return result.stdout + result.stderr

    def next(self, is_new):
        return None if is_new else self.command()


class ScrIndex(ScrProgram):
    """`forebay scr index` on what two such checkpoints left."""

    def __init__(self, fixture, program, change):
        super().__init__(fixture, program)
        self.name, self.change = f"scr.index{change[0].replace('--', '.')}", change

    def prepare(self, directory):
        super().prepare(directory)
        subprocess.run(self.write(), cwd=directory, capture_output=True, timeout=SECONDS, check=True)

    def command(self):
        return [self.fixture.forebay, "scr", "index", *self.change, "prefix"]

    def content(self, directory):
        return self.fixture.run("scr", "index", "--json", os.path.join(directory, "prefix"))

    def code(self, result):
        return result.exit_code

    def next(self, is_new):
        return None if is_new else self.command()


class ScrFlush(ScrProgram):
    """Such a program under `forebay scr run`, whose checkpoints go through a cache into the store of the prefix."""

    under = "prefix/.scr/store"
    bypass = 0
    sorts, most = ("EIO", "ENOSPC"), 2

    def __init__(self, fixture, program):
        super().__init__(fixture, program)
        self.name, self.launcher = "scr.flush", f"{fixture.forebay} scr run --"

    def prepare(self, directory):  # the series of its sets follows from the place of the prefix
        for name in ("prefix", "cache"):
            os.mkdir(os.path.join(directory, name))

    def content(self, directory):
        sets = self.fixture.sets(os.path.join(directory, "prefix", ".scr", "store"))
        return sorted({repr(files) for files in sets.values()})

    def code(self, result):
        return result.exit_code

    def names(self, directory):
        return set()  # the cache and the notes of jobs are those of the next run


class RepairsFile(Ranks):
    """A file whose last step was never finished: its writer was killed."""

    def __init__(self, fixture):
        super().__init__(fixture, "MPI", "a")
        self.name = "repair.file"

    def prepare(self, directory):
        super().prepare(directory)
        with open(os.path.join(directory, self.target), "rb") as file:
            before = file.read()
        for at in range(3, 12):
            subprocess.run([os.path.join(self.fixture.build, "bin/kill_at"), "--kill", str(at), "--report", "/dev/null", "--",
                            *self.step("a", 3)], cwd=directory, capture_output=True, timeout=SECONDS, check=False)
            with Scratch(self.fixture) as scratch:
                copy = shutil.copy(os.path.join(directory, self.target), scratch)
                repaired = self.fixture.call("repair", copy)
                if repaired.returncode not in (0, 5):  # 5: the kill has torn a process group of the step
                    raise Failure(f"forebay repair exits with {repaired.returncode}: {repaired.stderr.strip()}")
                if " 0 lost" in repaired.stdout:
                    return
            with open(os.path.join(directory, self.target), "wb") as file:
                file.write(before)
        raise Failure("the writer left nothing to repair, wherever it was killed")

    def command(self):
        return [self.fixture.forebay, "repair", self.target]

    def next(self, is_new):
        return self.command()

    def code(self, result):
        return result.exit_code

    def says(self, result):
        return bool(result.stderr)

    def is_whole(self, found, old, new):
        return found in (old, new)


def scr(fixture):
    program = os.path.join(fixture.build, "tests/scr/program.mpich")
    if os.path.exists(program):
        yield ScrProgram(fixture, program)
        yield ScrFlush(fixture, program)
        yield ScrIndex(fixture, program, ["--current", "ckpt.1"])
        yield ScrIndex(fixture, program, ["--drop", "ckpt.2"])


def methods(fixture):
    yield RepairsFile(fixture)
    for method in ("PHDF5", "NC4"):
        yield Ranks(fixture, method, "u", "run.h5", hdf5)
    for mode in "wa":
        for method in ("POSIX", "MPI", "MPI_AGGREGATE:num_aggregators=2"):
            yield Ranks(fixture, method, mode)
        for method in ("PHDF5", "NC4"):
            yield Ranks(fixture, method, mode, "run.h5", hdf5)
        yield Merged(fixture, mode)
        yield Stored(fixture, mode)
