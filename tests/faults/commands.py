"""Cases of tests/faults: commands."""

import os
import re
import shutil

from case import Case, EachFile, EXISTS, NOT_FOUND, Failure, Fixture, Scratch, STEPS, hdf5, tree


def conversions(fixture):
    store, layout = fixture.store, fixture.path("layout.toml")

    def xdmf(path):
        return {"text": tree(path), "data": hdf5(path[:-len(".xmf")] + ".h5")}

    for form, target, read in (("npy", "all.dir", tree), ("hdf5", "all.h5", hdf5), ("netcdf", "all.nc", hdf5),
                               ("netcdf3", "all.cdf", tree), ("xdmf", "all.xmf", xdmf), ("zarr", "all.zarr", tree),
                               ("bp", "all.bp", fixture.arrays)):
        words = ["convert", store, "Density", "ids", "--layout", layout, "--threads", "2", "--format", form, "--to", target]
        yield Converts(f"convert.{form}", fixture, words, target, read, refuses_twice=EXISTS)
        yield Converts(f"convert.{form}.overwrite", fixture, [*words, "--overwrite"], target, read,
                       before=[[*words, "--steps", "1"]])
    yield Imports("convert.store", fixture, ["convert", store, "--threads", "2", "--format", "store", "--to", "st"], "st",
                  refuses_twice=EXISTS)


class Imports(Case):
    """Each step becomes a set; those that are there are not replaced."""

    def content(self, directory):
        store = os.path.join(directory, self.target)
        names = sorted(self.fixture.sets(store))
        return {name: self.fixture.arrays(store, "--steps", str(number)) for number, name in enumerate(names)}

    def is_whole(self, found, old, new):
        return old.items() <= found.items() <= new.items()

    def next(self, is_new):
        return [*self.command(), "--steps", "0"]

    def is_right_next(self, after, found, old, new):
        return self.is_whole(after, found or dict([min(new.items())]), new)


class Converts(Case):
    def may_change(self, name):
        return super().may_change(name) or (self.target.endswith(".xmf") and name.startswith(self.target[:-4]))


def readers(fixture):
    store, layout = fixture.store, fixture.path("layout.toml")
    for ending in ("npy", "csv"):
        words = ["read", store, "Density", "--layout", layout, "--to", f"x.{ending}"]
        yield Case(f"read.{ending}", fixture, words, f"x.{ending}", refuses_twice=EXISTS)
        yield Case(f"read.{ending}.overwrite", fixture, [*words, "--overwrite"], f"x.{ending}", before=[[*words, "--step", "0"]])
    extract = ["extract", "latest", "/ids", "--store", store, "--to"]
    yield Case("extract.file", fixture, [*extract, "x.npy", "--rank", "1"], "x.npy", refuses_twice=EXISTS)
    yield EachFile("extract.directory", fixture, [*extract, "out/", "--overwrite"], "out")
    yield EachFile("restore", fixture, ["restore", "dump_1", "--store", store, "--to", "back", "--overwrite"], "back")
    yield EachFile("restore.overwrite", fixture, ["restore", "dump_1", "--store", store, "--to", "back", "--overwrite"], "back",
                   before=[["restore", "dump_0", "--store", store, "--to", "back"]])
    yield Case("report", fixture, ["report", store, "--to", "page"], "page", Page(fixture))
    yield Case("report.again", fixture, ["report", store, "--to", "page"], "page", Page(fixture),
               before=[["report", fixture.small, "--to", "page"]])
    yield Generates("config.generate", fixture, ["config", "generate", fixture.path("run.xml"), "-o", "src"], "src")


class Generates(EachFile):
    def names(self, directory):
        """A run that would change nothing writes nothing, and leaves what an earlier one could not remove."""
        return {name for name in super().names(directory) if not os.path.basename(name).startswith(".forebay-part.")}


class Page:
    """A report, without the instant at which it was made."""

    def __init__(self, fixture):
        self.fixture = fixture

    def __call__(self, path):
        found = tree(path)
        text = found.get("index.html") if found else None
        return text and re.sub(rb"\d\d\d\d-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?", b"", text)


class OfStore(Case):
    """A command that changes a store which has sets."""

    def __init__(self, name, fixture, words, sets=STEPS, **more):
        super().__init__(name, fixture, words, "st", fixture.sets, **more)
        self.count = sets

    def prepare(self, directory):
        for step in range(self.count):
            self.fixture.run("pack", self.fixture.path(f"dump_{step}"), "--store", "st", cwd=directory)
        super().prepare(directory)


class Prunes(OfStore):
    """Sets go one by one."""

    def is_whole(self, found, old, new):
        return new.items() <= found.items() <= old.items()


class Rebases(Prunes):
    """A set has frames in the one that goes, and stays whole."""

    def prepare(self, directory):
        super().prepare(directory)
        self.fixture.run("pack", self.fixture.path("dump_0"), "--store", "st", "--name", "child", "--parent", "dump_0",
                         cwd=directory)


class Repairs(OfStore):
    def prepare(self, directory):
        super().prepare(directory)
        at = os.path.join(directory, "st", "sets", "dump_0")
        path = max((os.path.join(at, name) for name in os.listdir(at)), key=os.path.getsize)
        with open(path, "r+b") as file:
            file.truncate(os.path.getsize(path) - 100)

    def content(self, directory):
        """All but the damaged set, which stays as it is."""
        damaged = tree(os.path.join(directory, "st", "sets", "dump_0"))
        with Scratch(self.fixture) as scratch:
            copy = os.path.join(scratch, "st")
            shutil.copytree(os.path.join(directory, "st"), copy, symlinks=True)
            shutil.rmtree(os.path.join(copy, "sets", "dump_0"))
            return {**self.fixture.sets(copy), "damaged": damaged}


class Watches(OfStore):
    """The stage, and the store that its sets go to."""

    most = 2
    sorts = ("EIO", "ENOSPC")  # on a disk that stays full it tries again until somebody ends it

    def prepare(self, directory):
        super().prepare(directory)
        for step in (1, 2):
            at = os.path.join(directory, "stage", f"dump_{step}")
            Fixture.make_dump(at, step)
            open(os.path.join(at, "DONE"), "w", encoding="ascii").close()

    def may_change(self, name):
        return super().may_change(name) or name == "stage"

    def names(self, directory):
        """Containers are called by the attempt in which they were written."""
        return {re.sub(r"(of-\d+)\.\d+\.fbc$", r"\1.fbc", name) for name in super().names(directory)}

    def content(self, directory):
        stage = tree(os.path.join(directory, "stage"))
        kept = {name for name in stage if name.startswith("dump_")}
        sets = super().content(directory)
        lost = [name for name in ("dump_1", "dump_2") if name not in kept and name not in sets]
        if lost:
            raise Failure(f"{lost} are neither in the stage nor in the store")
        return sets

    def is_whole(self, found, old, new):
        return old.items() <= found.items() <= new.items()


def of_stores(fixture):
    dump = fixture.path("dump_2")
    pack = ["pack", dump, "--store", "st", "--threads", "2", "--group-size", "2"]
    yield OfStore("pack.new", fixture, pack, sets=0, refuses_twice=EXISTS)
    yield OfStore("pack", fixture, pack, sets=2, refuses_twice=EXISTS)
    yield OfStore("pack.parent", fixture, [*pack, "--parent", "dump_1"], sets=2, refuses_twice=EXISTS)
    yield Prunes("prune", fixture, ["prune", "st", "--keep-last", "1"])
    yield Prunes("remove", fixture, ["remove", "st", "dump_0", "dump_1"], refuses_twice=NOT_FOUND)
    yield Rebases("remove.rebase", fixture, ["remove", "st", "dump_0", "--rebase"], refuses_twice=NOT_FOUND)
    yield Repairs("repair", fixture, ["repair", "st", "dump_0"], refuses_twice=EXISTS)
    yield Watches("watch", fixture, ["watch", "stage", "--store", "st", "--complete", "marker:{set}/DONE", "--once", "--series", "default"],
                  sets=1)
    yield Rejects("reject", fixture, ["reject", "st", "dump_1", "--reason", "it diverges"])
    yield Runs("run", fixture, ["run", "--stage", "stage", "--store", "st", "--complete", "rename", "--series", "default", "--", "sh", "-c",
                                f"cp -r {dump} stage/.dump_2 && mv stage/.dump_2 stage/dump_2"], sets=1)


class Rejects(OfStore):
    def content(self, directory):
        """Whether the set is set aside, and all sets."""
        return {"aside": os.path.exists(os.path.join(directory, "st/sets/dump_1/.set-aside")), **super().content(directory)}


class Runs(OfStore):
    """A program that writes a checkpoint, the stage, and the store."""

    sorts, most = ("EIO", "ENOSPC"), 2  # as of Watches

    def may_change(self, name):
        return super().may_change(name) or name == "stage"

    def names(self, directory):
        """What is left of jobs that failed says why, and goes some jobs later."""
        return {re.sub(r"(of-\d+)\.\d+\.fbc$", r"\1.fbc", name) for name in super().names(directory)
                if not name.startswith("st/jobs/")}

    def next(self, is_new):
        return None if is_new else ["sh", "-c", 'rm -rf stage; exec "$@"', "sh", *self.command()]


class OfPrefix(Case):
    """What `forebay scr` keeps in a prefix."""

    def __init__(self, name, words, fixture, before=()):
        super().__init__(f"scr.{name}", fixture, ["scr", *words, "prefix"], "prefix", before=before)

    def prepare(self, directory):
        os.mkdir(os.path.join(directory, "prefix"))
        super().prepare(directory)

    def content(self, directory):
        return tree(os.path.join(directory, "prefix", ".scr", "halt.json"))


def of_prefixes(fixture):
    halt = ["halt", "--checkpoints", "2"]
    yield OfPrefix("halt", halt, fixture)
    yield OfPrefix("halt.again", halt, fixture, before=[["scr", "halt", "--checkpoints", "1", "prefix"]])
