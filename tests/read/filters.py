#!/usr/bin/env python3
"""HDF5 chunks that went through filters, or were never allocated: read, query, convert and extract, compared with what h5py and
netCDF4 read of the same files.

Usage: filters.py FOREBAY
"""

import random
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

try:
    import netCDF4
except ImportError:
    netCDF4 = None

FOREBAY = sys.argv[1]
OK, USAGE, DAMAGED, LIMIT, CHANGED = 0, 2, 5, 8, 10


def run(*words, text=True):
    done = subprocess.run([FOREBAY, *map(str, words)], capture_output=True, text=text, timeout=120)
    return done.returncode, done.stdout, done.stderr


class Filters(unittest.TestCase):
    def setUp(self):
        self.directory = Path(tempfile.mkdtemp(prefix="forebay-filters-"))
        self.addCleanup(shutil.rmtree, self.directory)
        self.tree, self.store = self.directory / "dump", self.directory / "store"
        self.tree.mkdir()
        self.random = random.Random(11)
        self.numbers = np.random.default_rng(11)

    def pack(self, name="dump"):
        code, _, error = run("pack", self.tree, "--store", self.store, "--name", name)
        self.assertEqual(code, OK, error)

    def read(self, name, box=None, *words):
        out = self.directory / "out.npy"
        code, _, error = run("read", self.store, name, *(("--box", box) if box else ()), "--to", out, "--overwrite", *words)
        self.assertEqual(code, OK, error)
        return np.load(out)

    def expect(self, name, values):
        """All of it, and boxes of it."""
        whole = self.read(name)
        self.assertEqual(whole.dtype, values.dtype.newbyteorder("="), name)
        np.testing.assert_array_equal(whole, values, name)
        for _ in range(2):
            begin = [self.random.randrange(n) for n in values.shape]
            end = [self.random.randint(b + 1, n) for b, n in zip(begin, values.shape)]
            box = ",".join(f"{b}:{e}" for b, e in zip(begin, end))
            part = values[tuple(slice(b, e) for b, e in zip(begin, end))]
            np.testing.assert_array_equal(self.read(name, box), part, f"{name} {box}")

    def noise(self, shape, kind):
        values = np.cumsum(self.numbers.normal(size=shape), axis=-1) * 20
        return abs(values).astype(kind) if np.dtype(kind).kind == "u" else values.astype(kind)

    def test_random_datasets(self):
        wishes = [dict(compression="gzip"), dict(compression="lzf"), dict(scaleoffset=0), dict(), dict(scaleoffset=3)]
        with h5py.File(self.tree / "a.h5", "w") as old, h5py.File(self.tree / "b.h5", "w", libver="latest") as new:
            for i in range(24):
                kind = self.random.choice(["<i4", ">i2", "<u2", "<f4", ">f8", "<f8"])
                rank = self.random.randint(1, 3)
                shape = [self.random.randint(2, 40) for _ in range(rank)]
                wish = dict(self.random.choice(wishes), chunks=tuple(self.random.randint(1, n) for n in shape),
                            shuffle=self.random.random() < 0.5, fletcher32=self.random.random() < 0.5)
                if wish.get("scaleoffset") is not None:
                    wish["scaleoffset"] = 3 if np.dtype(kind).kind == "f" else 0
                    wish["fletcher32"] = False  # h5py refuses both
                if self.random.random() < 0.5:
                    wish["maxshape"] = tuple(self.random.choice([None, n]) for n in shape)
                dataset = self.random.choice([old, new]).create_dataset(
                    f"x{i}", shape, kind, fillvalue=self.random.choice([None, 7]), **wish)
                part = tuple(slice(0, self.random.randint(1, n)) for n in shape)
                dataset[part] = self.noise([s.stop for s in part], kind)
        self.pack()
        for name in ("a.h5", "b.h5"):
            with h5py.File(self.tree / name) as file:
                for dataset in file:
                    self.expect(dataset, file[dataset][...])

    def test_a_chunk_goes_round_a_filter(self):
        with h5py.File(self.tree / "a.h5", "w") as file:
            values = self.numbers.integers(0, 9, size=(20, 20)).astype("<i4")
            dataset = file.create_dataset("x", data=values, chunks=(10, 10), compression="gzip", shuffle=True)
            dataset.id.write_direct_chunk((0, 10), values[:10, 10:].tobytes(), filter_mask=3)
        self.pack()
        self.expect("x", values)

    def test_the_last_chunk_ends_behind_the_largest_number(self):
        small, end = 10**12 + 610, 2**64 - 6  # alike modulo 1000; HDF5 itself makes none of the larger size
        with h5py.File(self.tree / "a.h5", "w") as file:
            file.create_dataset("x", (small,), "u1", chunks=(1000,), compression="gzip")[-5:] = np.arange(1, 6)
        bytes_of = (self.tree / "a.h5").read_bytes()
        for back in (0, 610):
            old, new = (struct.pack("<Q", size - back) for size in (small, end))
            self.assertIn(old, bytes_of)
            bytes_of = bytes_of.replace(old, new)
        (self.tree / "a.h5").write_bytes(bytes_of)
        self.pack()
        np.testing.assert_array_equal(self.read("x", f"{end - 8}:{end}"), [0, 0, 0, 1, 2, 3, 4, 5])

    def test_many_ranks_and_a_query(self):
        """Each rank's block is a local array; what holds is found where no index says anything."""
        values = []
        for rank in range(4):
            values.append(self.noise((30, 20), "<f8"))
            with h5py.File(self.tree / f"state.{rank:04}.h5", "w") as file:
                file.create_dataset("T", data=values[-1], chunks=(7, 6), compression="gzip", shuffle=True)
        self.pack()
        for rank in range(4):
            np.testing.assert_array_equal(self.read("T", None, "--block", rank), values[rank])
        level = float(np.percentile(np.stack(values), 99.5))
        code, out, error = run("query", self.store, f"T > {level!r}", "--values", "--csv")
        self.assertEqual(code, OK, error)
        self.assertEqual(len(out.splitlines()) - 1, int((np.stack(values) > level).sum()))

    @unittest.skipIf(netCDF4 is None, "netCDF4 is not there")
    def test_netcdf4(self):
        with netCDF4.Dataset(self.tree / "ocean.nc", "w") as file:
            file.createDimension("time", None)
            file.createDimension("y", 31)
            file.createDimension("x", 17)
            t = file.createVariable("sst", "f4", ("time", "y", "x"), zlib=True, complevel=4, shuffle=True, fill_value=-99.0)
            t[0:3] = self.noise((3, 31, 17), "f4")
            t[4, :5, :5] = 1.0
            file.createVariable("time", "f8", ("time",), zlib=True)[:] = np.arange(5)
        with netCDF4.Dataset(self.tree / "ocean.nc") as file:
            file.set_auto_mask(False)
            expected = file["sst"][...]
        self.pack()
        self.expect("sst", np.where(expected == -99, np.float32(np.nan), expected))
        np.testing.assert_array_equal(self.read("sst", None, "--raw"), expected)
        self.expect("time", np.arange(5.0))
        target = self.directory / "again.nc"
        code, _, error = run("convert", self.store, "--format", "netcdf", "--to", target)
        self.assertEqual(code, OK, error)
        with netCDF4.Dataset(target) as file:
            file.set_auto_mask(False)
            np.testing.assert_array_equal(np.squeeze(file["sst"][...]), expected)

    def test_extract_and_diff(self):
        values = self.noise((30, 20), "<f8")
        for name in ("one", "other"):
            values[3, 4] += 1.5 if name == "other" else 0
            with h5py.File(self.tree / "a.h5", "w") as file:
                file.create_dataset("T", data=values, chunks=(7, 6), compression="gzip", shuffle=True)
            self.pack(name)
        out = self.directory / "T.npy"
        code, _, error = run("extract", "other", "/T", "--store", self.store, "--to", out)
        self.assertEqual(code, OK, error)
        np.testing.assert_array_equal(np.load(out), values)
        code, report, error = run("diff", "one", "other", "--store", self.store)
        self.assertIn("1 differing element", report, error)
        self.assertIn("1.5", report)

    def test_diff_of_equal_chunks_in_other_places(self):
        for name, begin in (("one", 0), ("other", 4)):
            with h5py.File(self.tree / "a.h5", "w") as file:
                file.create_dataset("T", (8,), "i4", chunks=(4,), fillvalue=-1)[begin:begin + 4] = [1, 2, 3, 4]
            self.pack(name)
        code, report, error = run("diff", "one", "other", "--store", self.store)
        self.assertIn("8 differing elements", report, error)

    def test_diff_of_equal_chunks_that_other_filters_made(self):
        for name, mask in (("one", 0), ("other", 1)):
            with h5py.File(self.tree / "a.h5", "w") as file:
                values = file.create_dataset("T", (4,), "i4", chunks=(4,), shuffle=True)
                values.id.write_direct_chunk((0,), bytes(range(16)), filter_mask=mask)
            self.pack(name)
        code, report, error = run("diff", "one", "other", "--store", self.store)
        self.assertIn("4 differing elements", report, error)

    def test_diff_keeps_to_its_memory(self):
        """Each side has half of it, and what an array leaves of that has no room for one of its chunks."""
        for name, value in (("one", 1), ("other", 2)):
            with h5py.File(self.tree / "a.h5", "w") as file:
                file.create_dataset("T", (16 << 20,), "u1", chunks=(1 << 18,), compression="gzip", fillvalue=0)[...] = value
            self.pack(name)
        for memory, expected in (("64M", LIMIT), ("256M", CHANGED)):
            code, report, error = run("diff", "one", "other", "--store", self.store, "--memory", memory)
            self.assertEqual(code, expected, report + error)

    def test_diff_reports_what_is_damaged(self):
        for name, values in (("one", 1), ("other", 2)):
            with h5py.File(self.tree / "a.h5", "w") as file:
                torn = file.create_dataset("torn", data=np.full((8, 8), values), chunks=(4, 8), compression="gzip")
                if name == "other":
                    torn.id.write_direct_chunk((4, 0), b"not what gzip makes", filter_mask=0)
            self.pack(name)
        code, report, error = run("diff", "one", "other", "--store", self.store)
        self.assertEqual(code, DAMAGED, report + error)
        self.assertIn("deflate", error)

    def test_restore_is_identical(self):
        self.test_a_chunk_goes_round_a_filter()
        back = self.directory / "back"
        code, _, error = run("restore", "dump", "--store", self.store, "--to", back)
        self.assertEqual(code, OK, error)
        self.assertEqual((back / "a.h5").read_bytes(), (self.tree / "a.h5").read_bytes())

    def test_what_cannot_be_read(self):
        with h5py.File(self.tree / "a.h5", "w") as file:
            plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            plist.set_chunk((8, 8))
            plist.set_filter(32013, h5py.h5z.FLAG_OPTIONAL, (1, 2))
            space = h5py.h5s.create_simple((8, 8))
            zfp = h5py.Dataset(h5py.h5d.create(file.id, b"zfp", h5py.h5t.IEEE_F64LE, space, plist))
            zfp.id.write_direct_chunk((0, 0), b"zfp made this", filter_mask=0)
            torn = file.create_dataset("torn", data=np.arange(64.0).reshape(8, 8), chunks=(4, 8), compression="gzip")
            torn.id.write_direct_chunk((4, 0), b"not what gzip makes", filter_mask=0)
            huge = file.create_dataset("huge", (1 << 28,), "f8", chunks=(1 << 28,), compression="gzip")
            huge.id.write_direct_chunk((0,), b"a few bytes that claim to be two gigabytes", filter_mask=0)
        self.pack()
        code, _, error = run("read", self.store, "zfp", "--to", self.directory / "no.npy")
        self.assertNotEqual(code, OK)
        self.assertIn("filter 32013", error)
        code, _, error = run("read", self.store, "torn", "--to", self.directory / "no.npy")
        self.assertEqual(code, DAMAGED, error)
        self.assertIn("deflate", error)
        np.testing.assert_array_equal(self.read("torn", "0:4,:"), np.arange(32.0).reshape(4, 8))
        code, _, error = run("read", self.store, "huge", "--box", "0:10", "--memory", "256M", "--to", self.directory / "no.npy")
        self.assertNotEqual(code, OK)
        self.assertIn("memory", error)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
