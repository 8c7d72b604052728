#!/usr/bin/env python3
"""Forebay's codecs as a filter of HDF5: written and read by h5py, h5repack and h5dump, which find it by its path.

Usage: filter.py PLUGIN_DIRECTORY FOREBAY
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PLUGINS, FOREBAY = sys.argv.pop(1), sys.argv.pop(1)
os.environ["HDF5_PLUGIN_PATH"] = PLUGINS  # before HDF5 is loaded

try:
    import h5py
    import numpy as np
except ImportError:
    sys.exit(77)

FILTER = 480


def smooth(*shape):
    return np.add.outer(np.sin(np.arange(shape[0]) / 40), np.cos(np.arange(shape[1]) / 50)) * 100


class Filter(unittest.TestCase):
    def setUp(self):
        self.work = Path(tempfile.mkdtemp(prefix="forebay-h5-"))
        self.addCleanup(shutil.rmtree, self.work)
        self.path = self.work / "file.h5"

    def write(self, values, options=(1,), name="field", **more):
        with h5py.File(self.path, "a") as file:
            made = file.create_dataset(name, data=values, compression=FILTER, compression_opts=options, **more)
            return made.id.get_storage_size()

    def read(self, name="field"):
        with h5py.File(self.path) as file:
            return file[name][...]

    def test_datasets_come_back(self):
        base = smooth(90, 110)
        pair = np.zeros(500, dtype=[("a", "<f8"), ("b", "<i2")])
        pair["a"], pair["b"] = np.arange(500), np.arange(500) % 7
        datasets = [base, base.astype("f4"), base.astype(">f8"), base.astype(">i4"), (base * 10).astype("u2"), base > 0,
                    pair, base + 1j * base, np.arange(1000).astype("S8"), base.reshape(5, 3, 6, 5, 11, 2)]  # fmt: skip
        for number, values in enumerate(datasets):
            for profile in (0, 1, 2):
                name = f"{number}-{profile}"
                self.write(values, (profile,), name)
                back = self.read(name)
                self.assertEqual(values.dtype, back.dtype, name)
                np.testing.assert_array_equal(values, back, name)

    def test_fields_become_small(self):
        values = smooth(400, 300)
        sizes = [self.write(values, (profile,), f"p{profile}", chunks=(100, 300)) for profile in (0, 1, 2)]
        with h5py.File(self.path, "a") as file:
            gzip = file.create_dataset("gzip", data=values, chunks=(100, 300), compression="gzip", shuffle=True)
            for size in sizes:
                self.assertLess(size, gzip.id.get_storage_size())

    def test_chunks_at_the_edge_and_more_that_come_later(self):
        values = smooth(70, 50)
        with h5py.File(self.path, "w") as file:
            grows = file.create_dataset("grows", (40, 50), "f8", maxshape=(None, 50), chunks=(32, 32), compression=FILTER)
            grows[...] = values[:40]
            grows.resize((70, 50))
            grows[40:] = values[40:]
        np.testing.assert_array_equal(values, self.read("grows"))

    def test_other_filters_before_and_behind(self):
        values = (smooth(100, 80) * 1000).astype("i4")
        self.write(values, (1,), "after", shuffle=True)
        self.write(values, (1,), "before", fletcher32=True)
        np.testing.assert_array_equal(values, self.read("after"))
        np.testing.assert_array_equal(values, self.read("before"))

    def test_without_parameters_it_is_balanced(self):
        values = smooth(100, 80)
        self.assertEqual(self.write(values, (), "none"), self.write(values, (1,), "balanced"))

    def test_a_profile_that_is_none_is_refused(self):
        with self.assertRaisesRegex(Exception, "(?i)unable|can't|profile"):
            self.write(smooth(10, 10), (7,))

    def test_the_programs_of_hdf5(self):
        values = smooth(120, 90)
        with h5py.File(self.path, "w") as file:
            file.create_dataset("plain", data=values, chunks=(40, 90))
        if shutil.which("h5repack") is None or shutil.which("h5dump") is None:
            self.skipTest("no programs of HDF5")
        packed = self.work / "packed.h5"
        subprocess.run(["h5repack", "-f", f"plain:UD={FILTER},0,1,2", self.path, packed], check=True)
        with h5py.File(packed) as file:
            np.testing.assert_array_equal(values, file["plain"][...])
            self.assertLess(file["plain"].id.get_storage_size(), values.nbytes)
        dumped = self.work / "dumped"
        subprocess.run(["h5dump", "-d", "plain", "-b", "LE", "-o", dumped, packed], check=True, stdout=subprocess.DEVNULL)
        self.assertEqual(values.tobytes(), dumped.read_bytes())
        back = self.work / "back.h5"
        subprocess.run(["h5repack", "-f", "NONE", packed, back], check=True)
        with h5py.File(back) as file:
            np.testing.assert_array_equal(values, file["plain"][...])

    def read_from_set(self, name):
        """What `forebay read` makes of the dataset in a set that holds the file."""
        source, store, out = (self.work / each for each in ("dump_0001", "store", "out.npy"))
        source.mkdir()
        shutil.copy(self.path, source / "rank0000.h5")
        run = lambda *command: subprocess.run([FOREBAY, *command], check=True, capture_output=True, text=True, timeout=60)
        run("pack", str(source), "--store", str(store))
        run("read", name, "--store", str(store), "--to", str(out))
        return np.load(out)

    def test_the_command_undoes_the_filter(self):
        values = smooth(90, 110)
        self.write(values, chunks=(40, 64), shuffle=False, fletcher32=True)
        np.testing.assert_array_equal(values, self.read_from_set("field"))

    def test_the_command_refuses_a_damaged_chunk(self):
        self.write(smooth(100, 80), chunks=(100, 80))
        with h5py.File(self.path, "a") as file:
            good = file["field"].id.read_direct_chunk((0, 0))[1]
            file["field"].id.write_direct_chunk((0, 0), good[:-9] + bytes([good[-9] ^ 1]) + good[-8:])
        with self.assertRaises(subprocess.CalledProcessError) as raised:
            self.read_from_set("field")
        self.assertIn("rank0000.h5", raised.exception.stderr)

    def test_damaged_and_foreign_chunks_are_errors(self):
        values = smooth(100, 80)
        self.write(values, chunks=(100, 80))
        random = np.random.default_rng(2)
        with h5py.File(self.path) as file:
            good = file["field"].id.read_direct_chunk((0, 0))[1]
            hostile = [b"x", b"FBA1", good[:-1], good + b"x", good[:40], bytes(len(good)), bytes([255]) * 2000]
            for _ in range(100):
                at = int(random.integers(len(good)))
                hostile.append(good[:at] + bytes([good[at] ^ (1 << int(random.integers(8)))]) + good[at + 1 :])
            for chunk in hostile:
                try:
                    np.testing.assert_array_equal(values, self.with_chunk(chunk))
                    self.assertEqual(len(good), len(chunk))  # a bit that no decoder needs
                except OSError:
                    pass
        np.testing.assert_array_equal(values, self.with_chunk(good))

    def with_chunk(self, chunk):
        """What is read of the dataset when its chunk is this one, by a process that has not seen another one."""
        copy = self.work / "copy.h5"
        shutil.copy(self.path, copy)
        with h5py.File(copy, "a") as file:
            file["field"].id.write_direct_chunk((0, 0), chunk)
        with h5py.File(copy) as file:
            return file["field"][...]

    def test_chunks_of_other_datasets_are_errors(self):
        self.write(smooth(100, 80), chunks=(100, 80))
        others = [smooth(10, 8), smooth(100, 80).astype("f4"), smooth(200, 80), np.zeros(8, "u1")]
        for number, other in enumerate(others):
            self.write(other, (1,), f"other{number}", chunks=other.shape)
            with h5py.File(self.path) as file:
                chunk = file[f"other{number}"].id.read_direct_chunk((0,) * other.ndim)[1]
            self.assertRaises(OSError, self.with_chunk, chunk)


if __name__ == "__main__":
    unittest.main()
