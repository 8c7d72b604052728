#!/usr/bin/env python3
"""What --overwrite and everything else that replaces leaves alone: whatever Forebay did not make itself.

Usage: overwrite.py FOREBAY
Each case compares the target with what it was, byte for byte.
"""

import os
import signal
import subprocess
import sys
import time
import unittest

from support import COMMAND, EXISTS, NOT_FOUND, OK, UNSUPPORTED, StoreTest, environment, forebay, snapshot

INTERRUPTED = {signal.SIGINT: -signal.SIGINT, signal.SIGTERM: -signal.SIGTERM}


def preloaded(test, source):
    """The environment in which the command has the functions of a C file in the place of the system's."""
    library = source.with_suffix(".so")
    if not library.exists():
        built = subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], capture_output=True)
        if built.returncode != 0 or forebay("--version", env={"LD_PRELOAD": str(library)}).code != OK:
            test.skipTest("no C compiler, or a sanitizer that wants to come first")
    return {"LD_PRELOAD": str(library)}


class Overwriting(StoreTest):
    def setUp(self):
        super().setUp()
        self.pack()
        self.out = self.work / "out"
        self.out.mkdir()

    def convert(self, target, *words, **options):
        return forebay("convert", self.store, "--to", target, *words, **options)

    def stays(self, code, *words, of=None, said="", **options):
        """The command fails with `code`, and everything in the work directory, or `of`, is as it was."""
        before = snapshot(of or self.work)
        answer = forebay(*words, **options)
        self.assertEqual(code, answer.code, answer.out + answer.err)
        self.assertIn(said, answer.err)
        self.assertEqual(before, snapshot(of or self.work), words)

    def test_convert_replaces_what_it_made(self):
        for name in ("a.zarr", "arrays"):
            words = ("--format", "npy") if name == "arrays" else ()
            self.assertEqual(OK, self.convert(self.out / name, *words).code)
            first = snapshot(self.out / name)
            self.assertEqual(EXISTS, self.convert(self.out / name, *words).code)
            answer = self.convert(self.out / name, *words, "--overwrite")
            self.assertEqual(OK, answer.code, answer.err)
            self.assertEqual(sorted(first), sorted(snapshot(self.out / name)))
        self.assertEqual({"a.zarr", "arrays"}, {path.name for path in self.out.iterdir()})

    def test_a_result_that_was_changed_stays(self):
        self.assertEqual(OK, self.convert(self.out / "a.zarr").code)
        (self.out / "a.zarr/notes.txt").write_text("mine")
        self.stays(EXISTS, "convert", self.store, "--to", self.out / "a.zarr", "--overwrite", said="changed")
        self.assertEqual(OK, self.convert(self.out / "b.cdf").code)
        with open(self.out / "b.cdf", "ab") as file:
            file.write(b"mine")
        self.stays(EXISTS, "convert", self.store, "--to", self.out / "b.cdf", "--overwrite", said="changed")

    def test_stores_stay(self):
        for form in ("zarr", "npy", "netcdf3", "bp"):
            for target in (self.store, self.store / "sets", self.store / "sets/DD0008", f"{self.store}/", self.work, "."):
                cwd = self.store if target == "." else self.work
                self.stays(EXISTS, "convert", self.store, "--format", form, "--to", target, "--overwrite", cwd=cwd)
        for part in ("sets/DD0008/manifest", "forebay-store", "listing", "sets/new.cdf", "jobs/x.cdf"):
            (self.store / "jobs").mkdir(exist_ok=True)
            target = self.store / part
            self.stays(EXISTS, "convert", self.store, "--format", "netcdf3", "--to", target, "--overwrite")
        link = self.work / "sideways"
        link.symlink_to(self.store / "sets")
        self.stays(EXISTS, "convert", self.store, "--format", "netcdf3", "--to", link / "x.cdf", said="store")

    def test_foreign_things_stay(self):
        (self.out / "tree/below").mkdir(parents=True)
        (self.out / "tree/below/thesis.tex").write_text("mine")
        (self.out / "file").write_text("mine")
        (self.out / "link").symlink_to("file")
        os.mkfifo(self.out / "pipe")
        for name in ("tree", "file", "link", "pipe"):
            for form in ("zarr", "netcdf3"):
                self.stays(EXISTS, "convert", self.store, "--format", form, "--to", self.out / name, "--overwrite")
        self.assertEqual(OK, self.convert(self.out / "a.zarr").code)
        self.stays(EXISTS, "convert", self.store, "--format", "netcdf3", "--to", self.out / "a.zarr", "--overwrite")
        self.assertEqual(OK, self.convert(self.out / "a.cdf").code)
        self.stays(EXISTS, "convert", self.store, "--format", "zarr", "--to", self.out / "a.cdf", "--overwrite")
        (self.out / "made").symlink_to("a.cdf")
        self.stays(EXISTS, "convert", self.store, "--format", "netcdf3", "--to", self.out / "made", "--overwrite", said="link")

    def test_a_file_beside_xdmf_stays(self):
        if self.convert(self.work / "try.h5").code == UNSUPPORTED:
            self.skipTest("no plug-in for HDF5")
        (self.out / "run.h5").write_text("mine")
        self.stays(EXISTS, "convert", self.store, "--to", self.out / "run.xmf", "--overwrite")

    def test_read_and_extract_leave_files_alone(self):
        name = self.run_ok("read", self.store, "--json").json["arrays"][0]["name"]
        manifest = self.store / "sets/DD0008/manifest"
        foreign = self.out / "values.npy"
        foreign.write_text("mine")
        for target in (manifest, foreign):
            self.stays(EXISTS, "read", self.store, name, "--block", "0", "--to", target, "--overwrite")
        for target in (manifest, foreign):
            self.stays(EXISTS, "extract", "DD0008", "*", "--store", self.store, "--rank", "0", "--to", target, "--overwrite")
        made = self.out / "made.csv"
        self.run_ok("read", self.store, name, "--block", "0", "--to", made)
        self.run_ok("read", self.store, name, "--block", "0", "--to", made, "--overwrite")
        self.assertEqual(["made.csv", "values.npy"], sorted(path.name for path in self.out.iterdir()))

    def test_report_and_generate_leave_files_alone(self):
        page = self.out / "index.html"
        page.write_text("<p>mine")
        self.stays(EXISTS, "report", self.store, "--to", self.out)
        page.write_text("")  # what a power cut left of a report before they were made durable
        self.run_ok("report", self.store, "--to", self.out)
        self.run_ok("report", self.store, "--to", self.out)
        page.unlink()
        xml = self.work / "run.xml"
        xml.write_text('<adios-config host-language="C"><adios-group name="g"><var name="n" type="integer"/>'
                       '</adios-group><method group="g" method="POSIX"/></adios-config>')
        mine = self.out / "gwrite_g.ch"
        mine.write_text("my_own_call ();\n")
        self.stays(EXISTS, "config", "generate", xml, "-o", self.out, said="no mark")
        mine.unlink()
        self.run_ok("config", "generate", xml, "-o", self.out)
        xml.write_text(xml.read_text().replace('name="n"', 'name="m"'))
        self.run_ok("config", "generate", xml, "-o", self.out)
        self.assertIn('"m"', mine.read_text())

    def test_restore_finds_what_is_in_the_way_before_it_writes(self):
        for name in ("run.log", "latest.log", "sub"):
            back = self.work / f"back-{name}"
            back.mkdir()
            (back / "dump.cpu0000.npy").write_text("old")
            if name == "sub":
                (back / name).write_text("mine")
            else:
                (back / name).mkdir()
                (back / name / "mine").write_text("mine")
            self.stays(EXISTS, "restore", "DD0008", "--store", self.store, "--to", back, "--overwrite", of=back)
        self.stays(EXISTS, "restore", "DD0008", "--store", self.store, "--to", self.store, "--overwrite")
        self.stays(EXISTS, "restore", "DD0008", "--store", self.store, "--to", self.store / "sets", "--overwrite")
        os.mkfifo(self.out / "run.log")
        self.stays(EXISTS, "restore", "DD0008", "--store", self.store, "--to", self.out, "--overwrite", of=self.out)

    def test_a_restore_into_a_store_below_the_target_is_refused(self):
        tree = self.work / "hostile"
        (tree / "store/sets/DD0008").mkdir(parents=True)
        (tree / "store/sets/DD0008/manifest").write_text("forged")
        self.run_ok("pack", tree, "--store", self.work / "other")
        self.stays(EXISTS, "restore", "hostile", "--store", self.work / "other", "--to", self.work, "--overwrite", said="store")


class Leftovers(StoreTest):
    """What a conversion leaves that was killed, and one that was interrupted."""

    def setUp(self):
        super().setUp()
        self.pack()
        self.out = self.work / "out"
        self.out.mkdir()

    def begun(self, target):
        """A convert that has begun its target, and stands still: it reads from a pipe that nobody writes to."""
        names = lambda: {path.name for path in self.out.iterdir()}  # noqa: E731
        process = subprocess.Popen([COMMAND, "convert", self.store, "--to", target], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=environment(**self.slow()))
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        for _ in range(1000):
            if any(name.startswith(".forebay-part.") and not name.endswith(".lock") for name in names()):
                return process
            time.sleep(0.01)
        self.fail(f"it has not begun: {process.poll()}")

    def slow(self):
        """An environment in which the first fsync() takes for ever."""
        source = self.work / "slow.c"
        source.write_text("#include <unistd.h>\nint fsync(int fd) { (void)fd; for (;;) pause(); }\n")
        return preloaded(self, source)

    def test_what_was_killed_is_removed_by_the_next_one(self):
        for name in ("a.cdf", "a.zarr"):
            process = self.begun(self.out / name)
            other = self.begun_twice(name)
            process.kill()
            process.wait()
            self.assertFalse((self.out / name).exists())
            self.assertEqual(OK, forebay("convert", self.store, "--to", self.out / name).code)
            parts = {path.name for path in self.out.iterdir() if path.name.startswith(".")}
            self.assertEqual(2, len(parts), "only what the living one has is left")
            other.kill()
            other.wait()
            forebay("read", self.store, "--to", self.out / "nothing.npy")
            self.assertEqual(OK, forebay("convert", self.store, "--to", self.out / f"second-{name}").code)
            self.assertEqual(set(), {path.name for path in self.out.iterdir() if path.name.startswith(".")})

    def begun_twice(self, name):
        before = {path.name for path in self.out.iterdir()}
        process = subprocess.Popen([COMMAND, "convert", self.store, "--to", self.out / f"other-{name}"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment(**self.slow()))
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        for _ in range(1000):
            if len({path.name for path in self.out.iterdir()} - before) >= 2:
                return process
            time.sleep(0.01)
        self.fail("the second has not begun")

    def test_an_interrupt_says_so_and_leaves_nothing(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.begun(self.out / "a.cdf")
            process.send_signal(number)
            _, said = process.communicate(timeout=30)
            self.assertEqual(INTERRUPTED[number], process.returncode)
            self.assertIn(f"convert was interrupted by {number.name}", said.decode())
            self.assertEqual([], list(self.out.iterdir()))


class LastStep(StoreTest):
    """The name is there, and what makes it durable fails."""

    def failing(self):
        source = self.work / "failing.c"
        source.write_text(
            "#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <errno.h>\n#include <sys/stat.h>\n#include <unistd.h>\n"
            "int fsync(int fd) {\n  struct stat s;\n"
            "  if (fstat(fd, &s) == 0 && S_ISDIR(s.st_mode)) { errno = EIO; return -1; }\n"
            "  return ((int (*)(int))dlsym(RTLD_NEXT, \"fsync\"))(fd);\n}\n")
        return preloaded(self, source)

    def test_the_error_says_that_the_name_is_there(self):
        self.pack()
        out = self.work / "out"
        out.mkdir()
        failing = self.failing()
        for words, made in ((("convert", self.store, "--to", out / "a.cdf"), out / "a.cdf"),
                            (("report", self.store, "--to", out), out / "index.html"),
                            (("restore", "DD0008", "--store", self.store, "--to", out / "back"), out / "back/run.log")):
            answer = forebay(*words, env=failing)
            self.assertEqual(1, answer.code, answer.err)
            self.assertIn("power cut", answer.err)
            self.assertTrue(made.exists(), words)
        answer = forebay("pack", self.tree, "--store", self.store, "--name", "second", env=failing)
        self.assertEqual(1, answer.code, answer.err)
        self.assertEqual(NOT_FOUND, forebay("ls", self.store, "second").code)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
