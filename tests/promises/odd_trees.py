#!/usr/bin/env python3
"""Promise: whatever is in a directory comes back as it was: HDF5 and netCDF files of every shape, and odd files and names.

Usage: odd_trees.py FOREBAY. FOREBAY_SEED chooses other random trees.
"""

import json
import os
import random
import struct
import subprocess
import sys
import unittest

from promise import PROFILES, SCHEMES, PromiseTest, differences, main, snapshot

try:
    import h5py
    import netCDF4
    import numpy
except ImportError:
    h5py = None

SEED = int(os.environ.get("FOREBAY_SEED", "1"))


def random_words(random):
    """Options of pack, at random."""
    words = ["--scheme", random.choice(SCHEMES), "--profile", random.choice(PROFILES),
             "--group-size", random.choice([1, 2, 3, 64])]
    if random.random() < 0.5:
        words += ["--block-size", random.choice([64, 1000, 4096, 65536])]
    if random.random() < 0.3:
        words += ["--memory", "128M"]
    return words


def random_array(random, most_dimensions=4):
    generator = numpy.random.default_rng(random.getrandbits(32))
    shape = [random.choice([1, 2, 3, 7, 16, 40]) for _ in range(random.randint(0, most_dimensions))]
    kind = random.choice(["<f4", "<f8", ">f4", ">f8", "<i4", ">i8", "<u2", "i1", "<f2"])
    values = generator.normal(size=shape) * 100
    if random.random() < 0.3:
        values = numpy.zeros(shape)
    values = numpy.asarray(values).astype(kind)
    if "f" in kind and values.size > 2 and random.random() < 0.3:
        values.flat[0], values.flat[1] = numpy.nan, numpy.inf
    return values


def write_hdf5(path, random):
    libver = random.choice([("earliest", "v108"), ("v110", "v110"), ("latest", "latest")])
    with h5py.File(path, "w", libver=libver) as file:
        groups = [file]
        for i in range(random.randint(0, 6)):
            groups.append(random.choice(groups).create_group(f"Grid{i:08}", track_order=random.random() < 0.2))
        for i in range(random.randint(0, 25)):
            group, name = random.choice(groups), f"field{i}"
            draw = random.random()
            if draw < 0.1:
                group.create_dataset(name, data=["äöü", "", "x" * 300])
            elif draw < 0.15:
                group.create_dataset(name, shape=(0, 5), maxshape=(None, 5), dtype="f8")
            elif draw < 0.2:
                group.create_dataset(name, shape=(100, 100), dtype="f4", chunks=(10, 10))  # nothing allocated
            elif draw < 0.25:
                group[name] = numpy.zeros(5, dtype=[("a", "<f8"), ("b", "S3")])
            else:
                values = random_array(random)
                options = {}
                if values.ndim and random.random() < 0.5:
                    options["chunks"] = tuple(random.randint(1, n) for n in values.shape)
                    if random.random() < 0.5:
                        options |= {"compression": random.choice(["gzip", "lzf"]), "shuffle": True}
                    if random.random() < 0.3:
                        options |= {"maxshape": (None,) * values.ndim}
                dataset = group.create_dataset(name, data=values, **options)
                dataset.attrs["units"] = "K"


def write_netcdf(path, random):
    format = random.choice(["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA", "NETCDF4"])
    with netCDF4.Dataset(path, "w", format=format) as file:
        file.createDimension("time", None)
        for name, size in (("x", 7), ("y", 3), ("z", 1)):
            file.createDimension(name, size)
        for i in range(random.randint(0, 10)):
            kind = random.choice(["f4", "f8", "i4", "i2", "i1", "S1"])
            dimensions = tuple(d for d in ("time", "x", "y", "z") if random.random() < 0.5)
            variable = file.createVariable(f"v{i}", kind, dimensions)
            if kind != "S1" and (dimensions[:1] != ("time",) or random.random() < 0.8):
                shape = [random.randint(1, 5) if d == "time" else file.dimensions[d].size for d in dimensions]
                variable[:] = numpy.arange(numpy.prod(shape, dtype=int)).reshape(shape) % 100


@unittest.skipIf(h5py is None, "python3-h5py, python3-netcdf4 or python3-numpy is not installed")
class ScientificFiles(PromiseTest):
    def test_random_trees(self):
        for seed in range(SEED * 100, SEED * 100 + 12):
            chance = random.Random(seed)
            tree = self.work / f"tree{seed}"
            for rank in range(chance.randint(1, 5)):
                directory = tree / f"rank{rank}"
                directory.mkdir(parents=True)
                write_hdf5(directory / "state.h5", chance)
                write_netcdf(directory / "history.nc", chance)
                numpy.save(directory / "mesh.npy", random_array(chance))
                numpy.savez(directory / "many.npz", a=random_array(chance), b=random_array(chance))
            words = random_words(chance)
            with self.subTest(seed=seed, words=words):
                self.comes_back(tree, *words)

    def test_truncated_and_scribbled_files(self):
        """What looks like a format and is not is opaque, and comes back."""
        for seed in range(SEED * 100, SEED * 100 + 6):
            chance = random.Random(seed)
            tree = self.work / f"tree{seed}"
            tree.mkdir()
            for i, write in enumerate([write_hdf5, write_netcdf] * 4):
                path = tree / f"file{i}"
                write(path, chance)
                content = bytearray(path.read_bytes())
                if chance.random() < 0.5:
                    content = content[: chance.randrange(len(content))]
                for _ in range(chance.randint(1, 20) if content else 0):
                    content[chance.randrange(len(content))] = chance.randrange(256)
                path.write_bytes(content)
            with self.subTest(seed=seed):
                self.comes_back(tree, *random_words(chance))


class OddFiles(PromiseTest):
    def setUp(self):
        super().setUp()
        self.tree = self.work / "tree"
        self.tree.mkdir()

    def test_odd_names(self):
        names = [b"with space", b"new\nline", "ümlaut 日本".encode(), b"bad\xff\xfeutf8", b"-rf", b"--store", b"a" * 255,
                 b"quote'\"", b"back\\slash", b"*", b"[a-z]", b"tab\t", b".hidden", b"..dots", b"\x01control", b"%n%s", b"{}"]
        top = os.fsencode(self.tree)
        for number, name in enumerate(names):
            with open(os.path.join(top, name), "wb") as file:
                file.write(b"x" * number)
        deep = os.path.join(top, *[b"d" * 100] * 20)
        os.makedirs(deep)
        with open(os.path.join(deep, b"leaf"), "wb") as file:
            file.write(b"deep")
        self.comes_back(self.tree)

    def test_empty_things_links_and_modes(self):
        (self.tree / "empty").write_bytes(b"")
        (self.tree / "empty.h5").write_bytes(b"")
        (self.tree / "nothing" / "inside").mkdir(parents=True)
        os.symlink("empty", self.tree / "link")
        os.symlink("/nonexistent/\udcff", self.tree / "dangling")
        os.symlink("..", self.tree / "nothing" / "up")
        os.symlink("nothing", self.tree / "link-to-directory")
        for mode in 0o400, 0o444, 0o600, 0o755, 0o1777:
            path = self.tree / f"mode{mode:o}"
            path.write_bytes(b"data" * mode)
            path.chmod(mode)
        read_only = self.tree / "read-only"
        read_only.mkdir()
        (read_only / "file").write_bytes(b"x")
        for number, seconds in enumerate([0, -1, -123456789, 1, 2**31, 2**33]):
            path = self.tree / f"time{number}"
            path.write_bytes(b"t")
            os.utime(path, ns=(0, seconds * 10**9 + 123456789))
        os.utime(self.tree / "link", ns=(0, 987654321987654321), follow_symlinks=False)
        os.utime(self.tree / "nothing", ns=(0, 1000000001000000001))
        read_only.chmod(0o555)
        self.addCleanup(read_only.chmod, 0o755)
        self.comes_back(self.tree)

    def test_special_modes_come_back_for_those_who_ask(self):
        """Files belong to whoever restores them: a user's 4755 file would be root's after a restore by root."""
        for name, mode in ("user", 0o4755), ("group", 0o2711), ("both", 0o6777):
            (self.tree / name).write_bytes(b"#!/bin/sh")
            (self.tree / name).chmod(mode)
        (self.tree / "directory").mkdir()
        (self.tree / "directory").chmod(0o3777)
        before = snapshot(self.tree)
        self.ok("pack", self.tree, "--store", self.store, "--name", "set")
        plain = self.ok("restore", "set", "--store", self.store, "--to", self.work / "plain")
        self.assertRegex(plain.err, r"^forebay: warning: 4 entries .*--special-modes")
        modes = {path.name: path.stat().st_mode & 0o7777 for path in (self.work / "plain").iterdir()}
        self.assertEqual({"user": 0o755, "group": 0o711, "both": 0o777, "directory": 0o1777}, modes)
        report = json.loads(self.ok("restore", "latest", "--store", self.store, "--to", self.work / "again", "--json").out)
        self.assertEqual({"user", "group", "both", "directory"}, set(report["without_special_modes"]))
        asked = self.ok("restore", "set", "--store", self.store, "--to", self.work / "asked", "--special-modes")
        self.assertEqual(("", []), (asked.err, differences(before, snapshot(self.work / "asked"))))

    def test_only_empty_files(self):
        for rank in range(3):
            (self.tree / f"rank{rank}").write_bytes(b"")
        self.comes_back(self.tree)

    def test_sparse_files_stay_sparse(self):
        with open(self.tree / "holes", "wb") as file:
            for offset in 0, 5 << 20, (40 << 20) + 123:
                file.seek(offset)
                file.write(b"island" * 100)
            file.truncate(64 << 20)
        with open(self.tree / "all-hole", "wb") as file:
            file.truncate(32 << 20)
        self.ok("pack", self.tree, "--store", self.store, "--name", "sparse")
        self.ok("restore", "sparse", "--store", self.store, "--to", self.work / "again")
        for name in "holes", "all-hole":
            allocated = os.stat(self.work / "again" / name).st_blocks * 512
            self.assertLess(allocated, 1 << 20, name)
        subprocess.run(["rm", "-rf", self.store, self.work / "again"], check=True)
        self.comes_back(self.tree)

    def test_a_hundred_thousand_tiny_variables(self):
        """A safetensors file: a JSON header that says where each tensor lies."""
        for rank in range(2):
            count = 50000
            header = json.dumps({f"layer.{i}.bias": {"dtype": "F32", "shape": [3], "data_offsets": [12 * i, 12 * i + 12]}
                                 for i in range(count)}).encode()
            values = struct.pack(f"<{3 * count}f", *(0.5 * i for i in range(3 * count)))
            (self.tree / f"model.{rank}.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + values)
        self.comes_back(self.tree)

    def test_many_files(self):
        """More than a process may hold open."""
        for rank in range(2500):
            (self.tree / f"dump.{rank:05}").write_bytes(b"%d" % rank * (rank % 50))
        self.comes_back(self.tree, "--group-size", 10000)


if __name__ == "__main__":
    main()
