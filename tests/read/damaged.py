#!/usr/bin/env python3
"""A run with sets whose manifests are damaged: nothing is left out without a word, and the other steps keep their numbers.

Usage: damaged.py FOREBAY LIBRARIES
LIBRARIES is the directory of libforebay_read.so.
"""

import ctypes
import os
import subprocess
import sys
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(SOURCE / "tests/cli"))
from support import DAMAGED, OK, StoreTest, flip, forebay, npy_bytes  # noqa: E402

LIBRARIES = Path(sys.argv.pop())
STEPS, HURT = 5, 2
ARRAY = "data"
SKIP = "--skip-damaged"


class ReadOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("memory_bytes", ctypes.c_uint64), ("threads", ctypes.c_uint),
                ("stored", ctypes.c_int), ("series", ctypes.c_char_p),
                ("set", ctypes.c_char_p), ("layout", ctypes.c_char_p)]


class AdiosFile(ctypes.Structure):
    _fields_ = [("fh", ctypes.c_uint64), ("nvars", ctypes.c_int), ("var_namelist", ctypes.c_void_p), ("nattrs", ctypes.c_int),
                ("attr_namelist", ctypes.c_void_p), ("nmeshes", ctypes.c_int), ("mesh_namelist", ctypes.c_void_p), ("nlinks", ctypes.c_int),
                ("link_namelist", ctypes.c_void_p), ("current_step", ctypes.c_int), ("last_step", ctypes.c_int)]  # and more


class DamagedRun(StoreTest):
    """Sets s0 to s4, of which s2 has a manifest that cannot be read. The one array of each has its number as values."""

    def setUp(self):
        super().setUp()
        self.st = self.work / "run"
        for step in range(STEPS):
            directory = self.work / f"s{step}"
            directory.mkdir()
            (directory / "data.npy").write_bytes(npy_bytes([float(step)] * 6, (2, 3)))
            self.run_ok("pack", directory, "--store", self.st)
        self.hurt()

    def manifest(self, step):
        return self.st / "sets" / f"s{step}" / "manifest"

    def hurt(self):
        flip(self.manifest(HURT), self.manifest(HURT).stat().st_size // 2)

    def values(self, text):
        """Of the lines of a CSV: the column of steps, and the values."""
        rows = [line.split(",") for line in text.splitlines()[1:]]
        return [int(row[0]) for row in rows], [float(row[-1]) for row in rows]

    def array(self):
        return self.ok("read", self.st, "--json").json["arrays"][0]["name"]

    def ok(self, *words):
        answer = forebay(*words)
        self.assertEqual(OK, answer.code, f"{words}: {answer.out}{answer.err}")
        return answer

    def damaged(self, *words):
        answer = forebay(*words)
        self.assertEqual(DAMAGED, answer.code, f"{words}: {answer.out}{answer.err}")
        return answer

    def refused(self, *words):
        answer = self.run_error(DAMAGED, *words)
        self.assertIn("s2", answer.err)
        self.assertIn(SKIP, answer.err)
        return answer

    def test_steps_keep_their_numbers(self):
        name = self.array()
        for step in range(STEPS):
            words = ("read", self.st, name, "--step", step, "--to", self.work / f"one{step}.csv")
            if step == HURT:
                self.refused(*words)
                self.assertFalse((self.work / f"one{step}.csv").exists())
                continue
            answer = self.ok(*words)
            self.assertIn("s2", answer.err)  # who reads another step hears of it, too
            values = [float(line.split(",")[-1]) for line in (self.work / f"one{step}.csv").read_text().splitlines()[1:]]
            self.assertEqual([float(step)] * 6, values)

    def test_a_range_is_refused_or_has_the_rest(self):
        to = self.work / "all.csv"
        self.refused("read", self.st, self.array(), "--step", ":", "--to", to)
        self.assertFalse(to.exists())
        answer = self.ok("read", self.st, self.array(), "--step", ":", "--to", to, SKIP, "--json")
        self.assertEqual([(HURT, "s2")], [(one["number"], one["set"]) for one in answer.json["left_out"]])
        self.assertEqual([0, 1, 3, 4], [one["number"] for one in answer.json["steps"]])
        self.assertIn("s2", answer.err)
        steps, values = self.values(to.read_text())
        self.assertEqual([step for step in (0, 1, 3, 4) for _ in range(6)], steps)
        self.assertEqual([float(step) for step in steps], values)

    def test_convert(self):
        to = self.work / "all"
        words = ("convert", self.st, "--format", "npy", "--to", to, "--step-groups")
        self.refused(*words)
        self.assertFalse(to.exists())
        answer = self.ok(*words, SKIP, "--json")
        self.assertEqual([HURT], [one["number"] for one in answer.json["left_out"]])
        self.assertEqual({"step_0", "step_1", "step_3", "step_4"},
                         {path.relative_to(to).parts[0] for path in to.rglob("*.npy")})
        self.ok("convert", self.st, "--steps", "3:", "--format", "npy", "--to", self.work / "two")
        for target in ("store", "bp"):
            self.refused("convert", self.st, "--format", target, "--to", self.work / target)
            self.assertFalse((self.work / target).exists())
        self.ok("convert", self.st, "--format", "store", "--to", self.work / "store", SKIP)
        self.assertEqual(STEPS - 1, len(self.ok("ls", self.work / "store", "--json").json["sets"]))

    def test_query(self):
        words = ("query", self.st, f"'{self.array()}' >= 0".replace("'", '"'))
        answer = self.damaged(*words, "--json")
        self.assertEqual([0, 1, 3, 4], [one["number"] for one in answer.json["steps"]])
        self.assertEqual([HURT], [one["number"] for one in answer.json["failures"]])
        self.assertIn("s2", answer.out)
        self.assertIn("s2", self.damaged(*words).err)
        answer = self.ok(*words, SKIP, "--json")
        self.assertEqual(([], [HURT]), (answer.json["failures"], [one["number"] for one in answer.json["left_out"]]))
        self.assertIn("s2", self.ok(*words, SKIP, "--csv").err)

    def test_the_newest(self):
        self.manifest(HURT).write_bytes(b"")
        self.manifest(STEPS - 1).unlink()
        self.assertIn("s4", self.damaged("read", self.st).err)
        answer = self.ok("read", self.st, SKIP, "--json")
        self.assertEqual((3, "s3", STEPS), (answer.json["steps"][0]["number"], answer.json["steps"][0]["set"], answer.json["step_count"]))

    def test_all(self):
        for step in range(STEPS):
            self.manifest(step).write_text("nonsense")
        for words in (("read", self.st), ("read", self.st, SKIP), ("convert", self.st, "--to", self.work / "x.npy", SKIP)):
            self.assertIn("sets/s", self.damaged(*words).err)

    def test_a_report_shows_it(self):
        answer = self.ok("report", self.st, "--to", self.work / "page", "--json")
        self.assertEqual((STEPS, 1), (answer.json["set_count"], answer.json["damaged_set_count"]))
        self.assertIn("s2", (self.work / "page" / "index.html").read_text())

    def test_consistency(self):
        answer = self.damaged("verify", "--consistency", "--store", self.st, "--json")
        self.assertEqual([(HURT, "s2")], [(one["number"], one["set"]) for one in answer.json["inconsistencies"]
                                          if one["kind"] == "unreadable"])

    def test_the_c_interface(self):
        library = ctypes.CDLL(str(LIBRARIES / "libforebay_read.so"))
        library.forebay_read_steps.restype = ctypes.c_uint64
        library.forebay_message.restype = ctypes.c_char_p
        run, step, options = ctypes.c_void_p(), ctypes.c_void_p(), ReadOptions()
        options.size = ctypes.sizeof(options)
        self.assertEqual(0, library.forebay_read_open(os.fsencode(self.st), ctypes.byref(options), ctypes.byref(run)))
        self.assertEqual(STEPS, library.forebay_read_steps(run))
        codes = []
        for number in range(STEPS):
            codes.append(library.forebay_read_open_step(run, ctypes.c_int64(number), ctypes.byref(step)))
            if codes[-1] == 0:
                library.forebay_read_close_step(step)
            else:
                self.assertIn(b"s2", library.forebay_message())
        self.assertEqual([0, 0, 7, 0, 0], codes)  # FOREBAY_DAMAGED
        library.forebay_read_close(run)

    def test_the_interface_of_adios(self):
        if not (LIBRARIES / "libadios_nompi.so").exists():
            self.skipTest("libadios was not built")
        library = ctypes.CDLL(str(LIBRARIES / "libadios_nompi.so"))
        library.adios_errmsg.restype = ctypes.c_char_p
        for function in (library.adios_read_open_file, library.adios_read_open):
            function.restype = ctypes.POINTER(AdiosFile)
        library.adios_read_init_method(0, 0, b"quiet")
        path, as_wanted = os.fsencode(self.st), (0, ctypes.c_float(0))
        self.assertFalse(library.adios_read_open_file(path, 0, 0))
        self.assertIn(b"s2", library.adios_errmsg())
        stream = library.adios_read_open(path, 0, 0, *as_wanted)
        self.assertTrue(stream)
        advanced = [library.adios_advance_step(stream, 0, ctypes.c_float(0)) for _ in range(3)]
        self.assertEqual([True, False, False], [code == 0 for code in advanced])
        self.assertEqual((1, 1), (stream.contents.current_step, stream.contents.nvars))
        library.adios_read_init_method(0, 0, b"quiet;skip_damaged")
        self.assertEqual(0, library.adios_advance_step(stream, 0, ctypes.c_float(0)))
        self.assertEqual((3, 1), (stream.contents.current_step, stream.contents.nvars))
        library.adios_read_close(stream)
        file = library.adios_read_open_file(path, 0, 0)
        self.assertTrue(file, library.adios_errmsg())
        self.assertEqual((1, STEPS - 1), (file.contents.nvars, file.contents.last_step))
        library.adios_read_close(file)

    def test_what_is_mended_is_read_again(self):
        whole = self.work / "kept"
        copied = subprocess.run(["cp", "-a", self.st, whole], check=False)
        self.assertEqual(0, copied.returncode)
        flip(whole / "sets/s2/manifest", self.manifest(HURT).stat().st_size // 2)  # back again
        answer = self.ok("read", whole, self.array(), "--step", HURT, "--to", self.work / "mended.csv")
        self.assertEqual("", answer.err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
