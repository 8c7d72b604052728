"""What a case of tests/faults is, and what all of them begin with: see faults.py."""


import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile

import h5py
import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "crash"))
from harness import Failure  # noqa: E402

RANKS, STEPS = 3, 3
NOT_FOUND, EXISTS = 3, 4
SECONDS = 60
LAYOUT = '[[array]]\nname = "Density"\nvariables = "/Block*/Density"\nranks = [3, 1]\n'
XML = """<?xml version="1.0"?>
<adios-config host-language="C">
  <adios-group name="gas"><var name="n" type="integer"/><var name="x" type="double" dimensions="n"/></adios-group>
  <adios-group name="dust"><var name="m" type="integer"/></adios-group>
  <method group="gas" method="MPI"/><method group="dust" method="POSIX"/>
</adios-config>
"""


def tree(path):
    """What lies at a path, with all that is below it: None if nothing does."""
    if not os.path.lexists(path):
        return None
    info = os.lstat(path)
    if stat.S_ISLNK(info.st_mode):
        return os.readlink(path)
    if stat.S_ISDIR(info.st_mode):
        return {name: tree(os.path.join(path, name)) for name in os.listdir(path)}
    if not stat.S_ISREG(info.st_mode):
        return stat.S_IFMT(info.st_mode)
    with open(path, "rb") as file:
        return file.read()


def hdf5(path):
    """All that an HDF5 file has, by name; None if there is none."""
    if not os.path.lexists(path):
        return None
    found = {}

    def attributes(thing):
        return {name: (str(value.dtype), value.tobytes()) for name, value in
                ((name, numpy.asarray(thing.attrs[name])) for name in thing.attrs)
                if name not in ("DIMENSION_LIST", "REFERENCE_LIST")}  # places in the file

    def note(name, thing):
        values = numpy.asarray(thing[()]) if isinstance(thing, h5py.Dataset) else None
        scales = [[scale.name for scale in dimension.values()] for dimension in thing.dims] if values is not None else None
        found[name] = (None if values is None else (str(values.dtype), values.shape, values.tobytes()), scales, attributes(thing))

    try:
        with h5py.File(path, "r") as file:
            found["/"] = attributes(file)
            file.visititems(note)
    except (OSError, RuntimeError, KeyError, ValueError) as error:
        raise Failure(f"{os.path.basename(path)} cannot be read: {error}") from None
    return found


class Fixture:
    """What all cases begin with: STEPS directories of RANKS files, and a store that has them."""

    def __init__(self, build, directory):
        self.build, self.directory = build, directory
        self.forebay = os.path.join(build, "bin/forebay")
        self.ranks = os.path.join(build, "bin/adaptable_crash_ranks")
        self.scratch = 0
        os.mkdir(directory)
        self.store = self.path("store")
        for step in range(STEPS):
            self.make_dump(self.path(f"dump_{step}"), step)
            self.run("pack", self.path(f"dump_{step}"), "--store", self.store)
        self.small = self.path("small")
        self.run("pack", self.path("dump_0"), "--store", self.small)
        for name, text in (("layout.toml", LAYOUT), ("run.xml", XML)):
            with open(self.path(name), "w", encoding="ascii") as file:
                file.write(text)

    @staticmethod
    def make_dump(path, step):
        os.makedirs(path)
        for rank in range(RANKS):
            with h5py.File(os.path.join(path, f"rank{rank}.h5"), "w") as file:
                file[f"Block{rank}/Density"] = numpy.arange(40 * 50.0).reshape(40, 50) + 10**6 * step + 10**4 * rank
                file[f"Block{rank}/Density"].attrs["units"] = "g"
                file["ids"] = numpy.arange(rank + 2)

    def path(self, name):
        return os.path.join(self.directory, name)

    def call(self, *words, cwd=None):
        return subprocess.run([self.forebay, *words], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", timeout=SECONDS, check=False)

    def run(self, *words, cwd=None):
        done = self.call(*words, cwd=cwd)
        if done.returncode != 0:
            raise Failure(f"forebay {' '.join(words)} exits with {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def sets(self, store):
        """What the sets of a store restore to, all of which must be intact."""
        if not os.path.exists(os.path.join(store, "forebay-store")):
            return {}
        self.run("verify", store)
        found = {}
        with Scratch(self) as scratch:
            for name in os.listdir(os.path.join(store, "sets")):
                self.run("restore", name, "--store", store, "--to", os.path.join(scratch, name))
                found[name] = tree(os.path.join(scratch, name))
        return found


    def arrays(self, run, *words):
        """The arrays of a run, step by step; None if there is none."""
        if not os.path.isfile(run) and not os.path.exists(os.path.join(run, "forebay-store")):
            return None
        if not os.path.isfile(run) and not self.sets(run):
            return None
        with Scratch(self) as scratch:
            self.run("convert", run, *words, "--format", "npy", "--to", os.path.join(scratch, "arrays"))
            return tree(os.path.join(scratch, "arrays"))


class Scratch:
    """A directory outside of what is looked at."""

    def __init__(self, fixture):
        self.path = None
        self.fixture = fixture

    def __enter__(self):
        self.path = tempfile.mkdtemp(dir=self.fixture.directory)
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path)


class Case:
    """A command of Forebay that makes or changes what is called `target` in its directory."""

    under = ""  # the part of the directory in which system calls are made to fail
    sorts = ("EIO", "ENOSPC", "full")
    most = 3  # system calls that fail by each sort of fault, but with --all
    late = ("fsync", "close", "unlink")
    refuses_twice = 0  # the exit code with which it refuses to make what is there, or 0

    def __init__(self, name, fixture, words, target, read=tree, before=(), refuses_twice=0, late=None):
        self.name, self.fixture, self.words, self.target, self.read = name, fixture, words, target, read
        self.before, self.refuses_twice = before, refuses_twice
        self.late = late or self.late

    def prepare(self, directory):
        for words in self.before:
            self.fixture.run(*words, cwd=directory)

    def command(self):
        return [self.fixture.forebay, *self.words]

    def next(self, is_new):
        """A command that leads to what `command` does, or None if there is none; `is_new`: that is there."""
        return self.command()

    def is_right_next(self, after, found, old, new):
        return after == new

    def content(self, directory):
        return self.read(os.path.join(directory, self.target))

    def untouched(self, directory):
        return {name: tree(os.path.join(directory, name)) for name in os.listdir(directory) if not self.may_change(name)}

    def may_change(self, name):
        return name == self.target.split("/")[0] or self.is_leftover(name)

    # The names of what is unfinished, which nobody takes for whole; the next run of the command removes it, or a
    # document says what does.
    def is_leftover(self, name):
        return name.startswith((self.target, ".forebay-part."))

    @staticmethod
    def names(directory):
        return {os.path.relpath(os.path.join(at, name), directory)
                for at, directories, files in os.walk(directory) for name in directories + files}

    def code(self, result):
        return result.exit_code

    def says(self, result):
        return bool(result.stderr)

    def said(self, result):
        return result.stderr

    def is_whole(self, found, old, new):
        return found in (old, new)

    @staticmethod
    def difference(found, old, new):
        if not isinstance(found, dict) or not isinstance(new, dict):
            return f"{type(found).__name__}, old {type(old).__name__}, new {type(new).__name__}"
        old = old if isinstance(old, dict) else {}
        return {name: ("not there" if name not in found else "old" if found[name] == old.get(name) else "neither")
                for name in sorted({*found, *new}) if name not in found or found[name] != new.get(name)}


class EachFile(Case):
    """A command that makes several files, each of which is there as a whole or not at all."""

    def is_whole(self, found, old, new):
        return found in (old, new) or all(value in ((old or {}).get(name), new.get(name)) or
                                          (isinstance(value, dict) and self.is_whole(value, (old or {}).get(name), new[name]))
                                          for name, value in found.items() if not self.is_leftover(name))

    def content(self, directory):
        found = super().content(directory)
        return {name: value for name, value in found.items() if not self.is_leftover(name)} if found else found

    def is_leftover(self, name):
        return super().is_leftover(name) or name.startswith(".forebay-restore")
