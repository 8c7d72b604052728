#!/usr/bin/env python3
"""Zarr's codec: arrays of Zarr v3 whose chunks are compressed by Forebay."""

import os
import re
import tempfile
import textwrap
import unittest
from pathlib import Path

from zarr_support import np, smooth, zarr  # first: it brings its NumPy
from support import main

import forebay as fb
from forebay.zarr import ForebayCodec


class Zarr(unittest.TestCase):
    def setUp(self):
        work = tempfile.TemporaryDirectory()
        self.addCleanup(work.cleanup)
        self.work = Path(work.name)

    def write(self, name, values, chunks, profile="balanced"):
        array = zarr.create_array(self.work / name, shape=values.shape, dtype=values.dtype, chunks=chunks,
                                  serializer=ForebayCodec(profile), compressors=None)  # fmt: skip
        array[...] = values
        return sum(path.stat().st_size for path in (self.work / name).rglob("*") if path.name != "zarr.json")

    def read(self, name):
        return zarr.open_array(self.work / name, mode="r")

    def test_arrays_come_back_by_the_codecs_name(self):
        base = smooth(90, 110)
        arrays = [base, base.astype("f4"), (base * 10).astype("i2"), base > 0, base + 1j * base, np.arange(100, dtype="u1"),
                  base.astype("f2"), base.reshape(5, 3, 6, 110)]  # fmt: skip
        for number, values in enumerate(arrays):
            for profile in ("fast", "balanced", "max"):
                name = f"{number}-{profile}"
                self.write(name, values, tuple(max(1, n // 2 + 1) for n in values.shape), profile)
                back = self.read(name)
                self.assertEqual(values.dtype, back.dtype)
                np.testing.assert_array_equal(values, back[...])
                self.assertEqual(profile, back.metadata.to_dict()["codecs"][0]["configuration"]["profile"])

    def test_fields_become_smaller_than_by_zstd(self):
        values = smooth(400, 300)
        ours = self.write("ours", values, (100, 300))
        theirs = zarr.create_array(self.work / "zstd", shape=values.shape, dtype=values.dtype, chunks=(100, 300))
        theirs[...] = values
        self.assertLess(ours, sum(p.stat().st_size for p in (self.work / "zstd").rglob("*") if p.name != "zarr.json"))

    def test_parts_are_read_and_written(self):
        values = smooth(90, 110)
        self.write("parts", values, (32, 32))
        array = zarr.open_array(self.work / "parts", mode="r+")
        array[10:50, ::3] = 7
        values[10:50, ::3] = 7
        np.testing.assert_array_equal(values[5:60:2, 31:70], array[5:60:2, 31:70])

    def test_elements_that_are_no_numbers(self):
        records = np.zeros(50, [("id", "<i4"), ("x", "<f8")])
        records["x"] = np.sqrt(np.arange(50))
        for name, values in ("text", np.array(["a", "bc"] * 30)), ("records", records), ("time", np.arange(60).astype("M8[s]")):
            self.write(name, values, (20,))
            np.testing.assert_array_equal(values, self.read(name)[...])

    def test_the_examples_of_the_page(self):
        page = (Path(__file__).resolve().parents[2] / "docs/python.md").read_text()
        sources = re.findall(r"    \$ cat (field2?).py\n((?:    [^$].*\n)+)", page)
        self.assertEqual(["field", "field2"], [name for name, _ in sources])
        os.chdir(self.work)
        self.addCleanup(os.chdir, "/")
        for name, source in sources:
            names = {}
            exec(textwrap.dedent(source), names)  # noqa: S102
            np.testing.assert_array_equal(names["field"], zarr.open_array(f"{name}.zarr")[...])

    def test_what_is_wrong_is_an_exception(self):
        self.assertRaises(fb.InvalidArgument, self.write, "profile", smooth(4, 4), (2, 2), "fsat")
        self.assertRaises(ValueError, self.write, "text", np.array(["a", "bc"], np.dtypes.StringDType()), (2,))  # Zarr's
        self.write("damaged", smooth(40, 40), (40, 40))
        (chunk,) = [path for path in (self.work / "damaged").rglob("*") if path.is_file() and path.name != "zarr.json"]
        good = chunk.read_bytes()
        for bad in (good[:-1], b"x", fb.compress(np.zeros(3)), fb.compress(smooth(40, 40).astype("f4"))):
            chunk.write_bytes(bad)
            self.assertRaises(fb.Damaged, lambda: self.read("damaged")[...])
        chunk.write_bytes(good)
        np.testing.assert_array_equal(smooth(40, 40), self.read("damaged")[...])


if __name__ == "__main__":
    main()
