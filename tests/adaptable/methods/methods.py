#!/usr/bin/python3
"""Checks with the field's own tools what the methods PHDF5 and NC4 write, and that plug-ins work or are refused.

usage: methods.py WRITE_GROUPS SOURCE_DIRECTORY [TEST]...
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import h5py
import netCDF4
import numpy

WRITE, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
RANKS = 3


class Case(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="forebay-methods-")
        self.addCleanup(shutil.rmtree, self.directory)
        self.path = os.path.join(self.directory, "out.h5")

    def write(self, method, test, env=None):
        """(code, output) of write_groups."""
        done = subprocess.run([WRITE, method, self.path, test], capture_output=True, text=True, timeout=60, check=False,
                              cwd=self.directory, env={**os.environ, **(env or {})})
        return done.returncode, done.stdout + done.stderr

    def write_well(self, method, test, env=None):
        self.assertEqual(self.write(method, test, env), (0, ""))


def rows(step):
    return numpy.concatenate([numpy.arange(10).reshape(2, 5) + 1000 * step + 100 * rank for rank in range(RANKS)])


def columns(step):
    return numpy.concatenate([numpy.arange(24).reshape(4, 2, 3) + 1000 * step + 100 * r for r in range(RANKS)], axis=1)


def table(step):
    return numpy.concatenate([numpy.arange((r + 1) * 2).reshape(-1, 2) + 1000 * step + 100 * r for r in range(RANKS)])


class Hdf5(Case):
    def check_step(self, place, step):
        self.assertEqual(place["same"][()], 7)
        self.assertEqual(place["rank"][()].tolist(), [0, 1, 2])
        self.assertEqual(place["run/title"][()], b"a title")
        self.assertEqual(place["host"][()].tolist(), [b"n", b"nn", b"nnn"])
        numpy.testing.assert_array_equal(place["rows"][()], rows(step))
        numpy.testing.assert_array_equal(place["dir/columns"][()], columns(step))
        numpy.testing.assert_array_equal(place["table"][()], table(step))
        self.assertEqual([place[f"local/rank_{r}"][()].tolist() for r in range(RANKS)], [[], [5], [5, 5]])
        self.assertEqual(place["waves"][()].tolist(), [1 + 0j, 1 + 0j, 1 + 1j, 1 + 1j, 1 + 2j, 1 + 2j])
        self.assertEqual([place[f"twice/{n}"][()].tolist() for n in ("rank_2", "rank_2_1")], [[1, 2], [3]])
        self.assertEqual(place["rows"].attrs["description"], b"six rows")
        self.assertEqual(place["dir"].attrs["numbers"].tolist(), [3, 2, 1])
        self.assertEqual(place["dir"].attrs["mean value"], 1000.0 * step)

    def test_everything_is_where_its_name_says_and_later_steps_have_groups(self):
        self.write_well("PHDF5", "everything")
        with h5py.File(self.path, "r") as file:
            self.check_step(file, 0)
            self.check_step(file["step_1"], 1)
            self.assertEqual(file.attrs["names"].tolist(), [b"X", b"YyY"])
            self.assertEqual(file.attrs["not/there"], b"of nothing")
            self.assertEqual((file.attrs["forebay_steps"], file.attrs["forebay_time_index"]), (2, 2))
            # Contiguous: any tool maps it, and nothing but the values takes room.
            self.assertIsNone(file["rows"].chunks)
        self.assertEqual(os.listdir(self.directory), ["out.h5"])
        subprocess.run(["h5dump", "-H", self.path], check=True, capture_output=True, timeout=60)

    def test_a_long_double_keeps_its_bits(self):
        self.write_well("PHDF5", "long_double")
        with h5py.File(self.path, "r") as file:
            self.assertEqual(file["long"][()], numpy.longdouble(1.5))

    def test_a_new_file_takes_the_place_of_the_old_one_when_it_is_complete(self):
        self.write_well("PHDF5", "everything")
        before = os.stat(self.path).st_ino
        self.write_well("PHDF5", "abandoned")
        self.assertEqual((os.stat(self.path).st_ino, os.listdir(self.directory)), (before, ["out.h5"]))
        self.write_well("PHDF5", "replace")
        with h5py.File(self.path, "r") as file:
            self.assertEqual(sorted(file), ["only"])

    def test_what_does_not_fit_together_is_refused_and_the_rest_is_written(self):
        code, said = self.write("PHDF5", "conflict")
        self.assertEqual(code, 1)
        self.assertRegex(said, r'-102: .*variable "(bad|outside)"')
        with h5py.File(self.path, "r") as file:
            self.assertEqual(file["good"][()].tolist(), [0, 1, 1, 2, 2, 3])
            self.assertEqual(file["outside"][()].tolist(), [0, 1, 0, 1, 0])

    def test_only_files_that_are_there_and_its_own_get_more(self):
        code, said = self.write("PHDF5", "no_file")
        self.assertEqual((code, said[:4]), (1, "-3: "))
        with h5py.File(self.path, "w") as file:
            file["mine"] = 1
        code, said = self.write("PHDF5", "no_file")
        self.assertEqual((code, said[:6]), (1, "-102: "))
        with open(self.path, "w", encoding="ascii") as file:
            file.write("no HDF5 at all")
        code, said = self.write("PHDF5", "no_file")
        self.assertEqual((code, said[:4]), (1, "-2: "))

    def test_a_directory_that_is_not_there_is_an_error_of_all_ranks(self):
        self.path = os.path.join(self.directory, "no/out.h5")
        code, said = self.write("PHDF5", "replace")
        self.assertEqual((code, said[:4]), (1, "-2: "))
        self.assertIn("No such file or directory", said)


    def test_attributes_may_be_large_and_those_without_a_name_are_left_out(self):
        self.write_well("PHDF5", "attributes")
        self.write_well("PHDF5", "attributes_append")
        with h5py.File(self.path, "r") as file:
            for place in (file["rows"], file["dir"], file["step_1/rows"], file["step_1/dir"]):
                self.assertEqual({name: place.attrs[name] for name in place.attrs},
                                 {"first": b"1st", "large": b"x" * 69999, "last": b"last"})
            for before in ("", "step_1."):
                self.assertEqual([file.attrs[before + name] for name in ("first", "large", "last")],
                                 [b"1st", b"x" * 69999, b"last"])
            self.assertEqual(len(file.attrs), 8)
            self.assertEqual(file["step_1/rows"][()].tolist(), [0, 1, 1, 2, 2, 3])

    def test_an_attribute_for_which_a_file_has_no_room_is_named_and_the_rest_is_written(self):
        with h5py.File(self.path, "w", libver="earliest") as file:  # as Forebay made them once
            file.attrs["forebay_steps"], file.attrs["forebay_time_index"] = numpy.uint64(1), numpy.uint32(1)
        code, said = self.write("PHDF5", "attributes_append")
        self.assertEqual(code, 1)
        self.assertRegex(said, '-20: .*cannot write attribute "large", of 69999 bytes; all else is written')
        with h5py.File(self.path, "r") as file:
            self.assertEqual(file["step_1/rows"][()].tolist(), [0, 1, 1, 2, 2, 3])
            self.assertEqual(file["step_1/rows"].attrs["large"], b"x" * 69999)
            self.assertEqual(file.attrs["step_1.last"], b"last")
            self.assertEqual(file.attrs["forebay_steps"], 2)


class Writers(Case):
    """Two programs that write one file."""

    def hold(self, method, test):
        process = subprocess.Popen([WRITE, method, self.path, test], cwd=self.directory, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.assertEqual(process.stdout.readline(), "open\n")
        return process

    def release(self, process):
        process.stdin.close()
        self.assertEqual((process.stdout.read(), process.wait(60)), ("", 0))

    def refuses(self, method, test):
        code, said = self.write(method, test)
        self.assertEqual(code, 1, f"{method} {test}")
        self.assertRegex(said, "^-(2|106): .*another pro(gram|cess) is (writing|adding to) this file", f"{method} {test}")

    def test_the_second_one_is_refused(self):
        for first in ("PHDF5", "NC4", "MPI", "POSIX"):
            for test in ("held", "held_append"):
                for _ in range(2):  # without a file, then with one
                    process = self.hold(first, test)
                    for second in ("PHDF5", "NC4", "MPI", "POSIX"):
                        self.refuses(second, "replace")
                        if (first in ("PHDF5", "NC4")) == (second in ("PHDF5", "NC4")):
                            self.refuses(second, "replace_append")
                    self.release(process)
                    self.assertEqual([name for name in os.listdir(self.directory) if name.endswith(".part")], [])
                self.write_well(first, "replace")  # nothing is locked any more
                self.write_well(first, "replace_append")
                shutil.rmtree(self.directory)
                os.mkdir(self.directory)

    def test_programs_in_a_row_lose_nothing(self):
        held = self.hold("PHDF5", "held")
        self.refuses("PHDF5", "replace_append")
        self.release(held)
        held = self.hold("PHDF5", "held_append")
        self.refuses("NC4", "replace_append")
        with h5py.File(self.path, "r") as file:  # readers are not kept out
            self.assertEqual(file["only"][()], 1)
            self.refuses("PHDF5", "replace")
        self.release(held)
        with h5py.File(self.path, "r") as file:
            self.assertEqual(sorted(file), ["only", "step_1"])
            self.write_well("PHDF5", "replace")  # neither do they keep out who replaces the file

    def test_who_reads_a_file_at_the_close_of_an_append_is_told_of(self):
        self.write_well("PHDF5", "replace")
        with h5py.File(self.path, "r"):
            code, said = self.write("PHDF5", "replace_append", {"HDF5_USE_FILE_LOCKING": "TRUE"})
            self.assertEqual((code, said[:4]), (1, "-2: "))
            self.assertIn("another program has this file open with the HDF5 library", said)
            self.write_well("PHDF5", "replace_append", {"HDF5_USE_FILE_LOCKING": "FALSE"})

    def test_what_a_dead_writer_left_is_no_hindrance(self):
        held = self.hold("PHDF5", "held")
        held.kill()
        held.wait(60)
        held.stdin.close()
        self.assertEqual(os.listdir(self.directory), ["out.h5.part"])
        self.write_well("PHDF5", "replace")
        self.assertEqual(os.listdir(self.directory), ["out.h5"])

    def test_any_method_replaces_what_another_one_wrote(self):
        for first in ("MPI", "POSIX", "PHDF5", "NC4"):
            for second in ("MPI", "POSIX", "PHDF5", "NC4"):
                self.write_well(first, "everything")
                self.write_well(second, "replace")
                self.assertEqual(sorted(os.listdir(self.directory)),
                                 ["out.h5", "out.h5.dir"] if second == "POSIX" else ["out.h5"], f"{first}, then {second}")
                if second in ("PHDF5", "NC4"):
                    with h5py.File(self.path, "r") as file:
                        self.assertEqual(file["only"][()], 1)

    def test_a_directory_is_refused_at_the_open(self):
        os.mkdir(self.path)
        for method in ("PHDF5", "NC4", "MPI", "POSIX"):
            code, said = self.write(method, "held")
            self.assertEqual(code, 1)
            self.assertNotIn("open\n", said)
            self.assertIn("directory", said)
            self.assertEqual(os.listdir(self.directory), ["out.h5"])


class Netcdf(Case):
    def check_step(self, place, step):
        numpy.testing.assert_array_equal(place["rows"][:], rows(step))
        numpy.testing.assert_array_equal(place["dir"]["columns"][:], columns(step))
        numpy.testing.assert_array_equal(place["table"][:], table(step))
        self.assertEqual(place["rows"].dimensions, ("dim_6", "dim_5"))
        self.assertEqual(place["rows"].description, "six rows")
        self.assertEqual(place["same"][...], 7)
        self.assertEqual(b"".join(place["run"]["title"][:]), b"a title")
        self.assertEqual(place["local"]["rank_2"][:].tolist(), [5, 5])
        self.assertEqual(place["waves"][:].tolist()[5], (1.0, 2.0))

    def test_netcdf_reads_everything(self):
        self.write_well("NC4", "everything")
        with netCDF4.Dataset(self.path) as file:
            file.set_auto_mask(False)
            self.check_step(Place(file), 0)
            self.check_step(Place(file.groups["step_1"]), 1)
            self.assertEqual(getattr(file, "not.there"), "of nothing")
        if shutil.which("ncdump"):
            said = subprocess.run(["ncdump", self.path], check=True, capture_output=True, timeout=60, text=True).stdout
            self.assertIn("double rows(dim_6, dim_5)", said)
        with h5py.File(self.path, "r") as file:
            numpy.testing.assert_array_equal(file["rows"][()], rows(0))

    def test_attributes_may_be_large(self):
        self.write_well("NC4", "attributes")
        self.write_well("NC4", "attributes_append")
        with netCDF4.Dataset(self.path) as file:
            for step in (file, file.groups["step_1"]):
                for place in (step.variables["rows"], step.groups["dir"]):
                    self.assertEqual([place.getncattr(name) for name in ("first", "large", "last")],
                                     ["1st", "x" * 69999, "last"])
            self.assertEqual((file.large, file.getncattr("step_1.large")), ("x" * 69999,) * 2)

    def test_what_netcdf_does_not_have_is_refused(self):
        code, said = self.write("NC4", "long_double")
        self.assertEqual(code, 1)
        self.assertRegex(said, '-20: .*method NC4: variable "long" is a long double, which netCDF-4 does not have')
        self.assertEqual(os.listdir(self.directory), [])


class Place:
    """Variables and groups by one index."""

    def __init__(self, group):
        self._group = group

    def __getitem__(self, name):
        return self._group.variables[name] if name in self._group.variables else Place(self._group.groups[name])


BAD = """
#include <forebay/forebay_method.h>
#include <string.h>
static int make(const forebay_method_parameter* p, size_t n, void** m, char* message) {
  memset(message, 'x', FOREBAY_METHOD_MESSAGE);  /* without an end */
  return -140;
}
static void unmake(void* m) {}
static int open_file(void* m, const forebay_method_open_request* r, void** f, forebay_method_standing* s, char* e) { return 0; }
static int close_file(void* f, const forebay_method_ranks* r, const forebay_method_step* s, size_t n, char* e) { return 0; }
static void abandon(void* f) {}
static forebay_method table = {
  .version = FOREBAY_METHOD_VERSION, .size = sizeof(forebay_method), .name = "BAD", .make = make, .unmake = unmake,
  .open = open_file, .close = close_file, .abandon = abandon};
const forebay_method* ENTRY(const char* name, uint32_t version) { CHANGE return RESULT; }
"""


class Plugins(Case):
    def build(self, source, name, *flags):
        subprocess.run(["cc", "-shared", "-fPIC", "-w", f"-I{SOURCE}/include", source, "-o",
                        os.path.join(self.directory, name), *flags], check=True, timeout=60)

    def refused(self, *flags, name="bad.so"):
        source = os.path.join(self.directory, "bad.c")
        with open(source, "w", encoding="ascii") as file:
            file.write(BAD)
        settings = {"ENTRY": "forebay_method_entry", "CHANGE": "", "RESULT": "&table", **dict(f.split("=", 1) for f in flags)}
        self.build(source, name, *(f"-D{key}={value}" for key, value in settings.items()))
        code, said = self.write("BAD", "replace", {"FOREBAY_METHOD_PATH": self.directory})
        self.assertEqual(code, 1)
        self.assertIn(os.path.join(self.directory, name) if "make" not in flags else "BAD", said)
        return said

    def test_the_example_writes(self):
        self.build(os.path.join(SOURCE, "examples/methods/text.c"), "text.so", "-Wall", "-Wextra", "-Werror")
        self.write_well("Text:values=3", "everything", {"FOREBAY_METHOD_PATH": f"/nowhere:{self.directory}"})
        with open(self.path + ".2", encoding="utf-8") as file:
            lines = file.read().splitlines()
        self.assertIn("  rows [2,5] of [6,5] at [4,0] = 200 201 202", lines)
        self.assertIn("  table [3,2] of [6,2] at [3,0] = 200 201 202", lines)
        self.assertIn('  host = "nnn"', lines)
        self.assertIn("  attribute dir/mean value is dir/mean", lines)

    def test_an_installation_has_its_methods_wherever_it_is_and_however_it_is_called(self):
        programs = os.path.join(self.directory, "somewhere/bin")
        os.makedirs(programs)
        program = shutil.copy(WRITE, programs)
        methods = os.path.normpath(os.path.join(self.directory, "somewhere/lib/forebay/methods"))
        os.makedirs(methods)
        self.build(os.path.join(SOURCE, "examples/methods/text.c"), os.path.join(methods, "text.so"))
        os.symlink(program, os.path.join(self.directory, "link"))
        name = os.path.basename(program)
        for called, path in ((program, ""), (name, programs), (f"somewhere/bin/{name}", ""), ("./link", "")):
            done = subprocess.run([called, "TEXT", self.path, "replace"], capture_output=True, text=True, timeout=60, check=False,
                                  cwd=self.directory, env={**os.environ, "PATH": f"{path}:{os.environ['PATH']}"})
            self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""), called)
            os.remove(self.path + ".0")

    def test_a_parameter_that_makes_no_sense_is_told(self):
        self.build(os.path.join(SOURCE, "examples/methods/text.c"), "text.so")
        code, said = self.write("TEXT:values=x", "replace", {"FOREBAY_METHOD_PATH": self.directory})
        self.assertEqual((code, said), (1, "-140: method TEXT: values=x is not a number\n"))

    def test_what_is_no_plug_in_of_this_version_is_refused(self):
        self.assertIn("made for version 2", self.refused("CHANGE=table.version=2;"))
        self.assertIn("40 bytes", self.refused("CHANGE=table.size=40;"))
        self.assertIn("lacks a function", self.refused("CHANGE=table.close=0;"))
        self.assertIn("knows no method of this name", self.refused("RESULT=0"))
        self.assertIn("it has no function forebay_method_entry", self.refused("ENTRY=another"))

    def test_a_text_without_an_end_is_cut(self):
        source = os.path.join(self.directory, "bad.c")
        with open(source, "w", encoding="ascii") as file:
            file.write(BAD)
        self.build(source, "bad.so", "-DENTRY=forebay_method_entry", "-DCHANGE=", "-DRESULT=&table")
        code, said = self.write("BAD", "replace", {"FOREBAY_METHOD_PATH": self.directory})
        self.assertEqual((code, said), (1, "-140: method BAD: " + "x" * 1024 + "\n"))

    def test_files_that_cannot_be_trusted_are_refused(self):
        path = os.path.join(self.directory, "bad.so")
        with open(path, "w", encoding="ascii") as file:
            file.write("not a library")
        env = {"FOREBAY_METHOD_PATH": self.directory}
        self.assertRegex(self.write("BAD", "replace", env)[1], "-105: .*this plug-in cannot be used: .*bad.so: (file too short|invalid)")
        os.chmod(path, 0o666)
        self.assertIn(f"everybody can write {path} ('chmod o-w", self.write("BAD", "replace", env)[1])
        os.chmod(path, 0o644)
        os.chmod(self.directory, 0o777)
        self.assertIn(f"everybody can write {self.directory}", self.write("BAD", "replace", env)[1])
        os.chmod(self.directory, 0o755)
        os.remove(path)
        os.mkdir(path)
        self.assertIn("it is not a regular file", self.write("BAD", "replace", env)[1])

    def test_names_lead_nowhere_else(self):
        self.build(os.path.join(SOURCE, "examples/methods/text.c"), "text.so")
        os.mkdir(os.path.join(self.directory, "sub"))
        code, said = self.write("../text", "replace", {"FOREBAY_METHOD_PATH": os.path.join(self.directory, "sub")})
        self.assertEqual((code, said[:6]), (1, "-105: "))

    def test_a_method_that_is_not_there_is_told_with_the_nearest_name(self):
        code, said = self.write("PHDF", "replace")
        self.assertEqual(code, 1)
        self.assertIn('-105: there is no method "PHDF"', said)
        self.assertIn("PHDF5", said)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
