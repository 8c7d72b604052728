#!/usr/bin/env python3
"""The pages that describe containers, stores and codecs are true: a reader that was written from them alone
(stranger/, no line shared with Forebay) restores what the command packs, byte for byte.

Usage: strangers_reader.py FOREBAY
"""

import copy
import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

from promise import OK, SKIP, SOURCE, PromiseTest, forebay, main

try:
    import h5py
    import numpy as np
except ImportError:
    sys.exit(SKIP)

from stranger import codecs, cubes, groups, manifest
from stranger.container import read_container
from stranger.restore import Reader

DATA = Path(os.environ.get("FOREBAY_DATA", SOURCE.parent / "shared" / "data"))
# `zfp`, with which variables are stored that need not come back byte for byte, is left out: the library does not tell
# where in the middle of a word an array ends.
LEFT_OUT = {"zfp"}


def gas(ranks, cells, dtype):
    """A smooth gas in three dimensions: per rank its density, energy and pressure, with ghost zones on both sides."""
    axis = np.linspace(0, 3, ranks * cells + 4)
    x, y, z = axis[:, None, None], axis[None, : cells + 4, None], axis[None, None, : cells + 4]
    noise = np.random.default_rng(1).normal(0, 1e-3, (len(axis), cells + 4, cells + 4))
    density = 1 + 0.3 * np.sin(2 * x) * np.cos(y) + 0.1 * z + noise
    energy = 2.5 + 0.2 * np.cos(x + y) * z + noise[::-1]
    for rank in range(ranks):
        mine = slice(rank * cells, (rank + 1) * cells + 4)
        yield {"Density": density[mine].astype(dtype), "Energy": energy[mine].astype(dtype),
               "Pressure": (0.4 * density[mine] * energy[mine]).astype(dtype)}  # fmt: skip


def write_gas(directory, ranks, cells, dtype):
    for rank, fields in enumerate(gas(ranks, cells, dtype)):
        with h5py.File(directory / f"gas.cpu{rank:04}.h5", "w") as file:
            for name, values in fields.items():
                file[f"Grid{rank + 7:04}/{name}"] = values


def write_mixed(directory):
    """Files of many sorts: formats, kinds of numbers, filters, scalars, text, links."""
    random = np.random.default_rng(2)
    for rank in range(3):
        walk = np.cumsum(random.normal(0, 1, (30, 50)), axis=0)
        np.save(directory / f"walk.{rank}.npy", walk.astype(">f4"))
        np.save(directory / f"count.{rank}.npy", (100 * walk).astype("<i8"))
        np.save(directory / f"flag.{rank}.npy", walk > 0)
        np.savez(directory / f"pair.{rank}.npz", a=walk, b=(10 * walk).astype("<i2"))
        with h5py.File(directory / f"odd.{rank}.h5", "w") as file:
            file["scalar"] = 3.5
            file["big"] = walk.astype(">i4")
            file.create_dataset("filtered", data=walk, chunks=(7, 20), compression="gzip")
            file.create_dataset("partial", (40, 40), "f8", chunks=(16, 16))[3, 5] = 1
            file["particles"] = np.zeros(37, [("id", "<i4"), ("x", "<f8")])
    np.save(directory / "line.npy", np.cumsum(random.normal(size=(3000, 2)) * (2, 5000)).astype("<i4"))
    values = random.normal(size=300)
    values[[3, 70, 71]] = np.nan, np.inf, -0.0
    np.save(directory / "special.npy", values.reshape(10, 30))
    (directory / "sub" / "empty").mkdir(parents=True)
    (directory / "sub" / "notes.txt").write_text("dt = 0.1\n" * 400)
    (directory / "nothing").write_bytes(b"")
    os.symlink("sub/notes.txt", directory / "link")
    os.chmod(directory / "nothing", 0o600)
    os.utime(directory / "nothing", ns=(0, -1_500_000_000))


def entries_of(directory):
    """What restore.Reader.restore() gives for a packed directory."""
    found, top = {}, os.fsencode(directory)
    for root, directories, files in os.walk(top):
        for name in directories + files:
            path = os.path.join(root, name)
            status = os.lstat(path)
            entry = ("link", status.st_mode & 0o7777, None, os.readlink(path)) if os.path.islink(path) else None
            if entry is None and name in directories:
                entry = ("directory", status.st_mode & 0o7777, status.st_mtime_ns, b"")
            elif entry is None:
                entry = ("file", status.st_mode & 0o7777, status.st_mtime_ns, Path(os.fsdecode(path)).read_bytes())
            found[os.path.relpath(path, top)] = entry
    return found


def different(a, b):
    return sorted(name for name in a.keys() | b.keys() if a.get(name) != b.get(name))


class Pages(PromiseTest):
    def comes_back(self, tree, *words, name="set", expect=()):
        self.ok("pack", tree, "--store", self.store, "--name", name, *words)
        reader = Reader(self.store)
        self.assertEqual([], different(entries_of(tree), reader.restore(name)), words)
        self.assertLessEqual(set(expect), reader.used.keys(), f"{words}: the data are not those that the test is about")
        return reader

    def tree(self, name):
        tree = self.work / name
        tree.mkdir()
        return tree

    def test_profiles(self):
        tree = self.tree("gas")
        write_gas(tree, 3, 12, "<f8")
        write_mixed(tree)
        expected = {"none": ["none"], "gzip": ["deflate"], "paper": ["fpc"], "fast": ["zstd"],
                    "balanced": ["lch"], "max": ["relation"]}  # fmt: skip
        for profile, codec in expected.items():
            self.comes_back(tree, "--profile", profile, name=profile, expect=codec)

    def test_entries(self):
        tree = self.tree("gas")
        write_gas(tree, 3, 32, "<f8")  # a field of a rank is a little over what is cut by
        np.save(tree / "many.npy", np.random.default_rng(3).normal(0, 1, (40, 50, 30, 6)).cumsum(axis=2))
        for profile in ("fast", "balanced", "max"):
            self.comes_back(tree, "--profile", profile, name=profile, expect=["entries"])

    def test_chains(self):
        tree = self.tree("gas")
        write_gas(tree, 2, 10, "<f4")
        write_mixed(tree)
        used, built_in = set(), set(json.loads(forebay("--version", "--json").out)["codecs"])
        for number, chain in enumerate(("fpzip", "fpzip1d", "fpc:5", "bitshuffle,lz4:9", "lorenzo:2,shuffle,deflate",
                                        "halo:1,fitted,lch:1", "lorenzo:4,lch", "halo,lorenzo,bitshuffle,zstd:3", "planes:1",
                                        "planes", "lorenzo,planes", "columns,lorenzo:1,shuffle,zstd")):  # fmt: skip
            stages = {word.split(":")[0] for word in chain.split(",")}
            if not stages <= built_in:
                continue
            used |= self.comes_back(tree, "--profile", chain, name=f"chain{number}", expect=stages).used.keys()
        elsewhere = {"relation", "difference", "base", "multiples", "text"}  # what has tests of its own
        self.assertEqual(set(), built_in - used - elsewhere - LEFT_OUT, "not tried here")
        self.assertLessEqual(built_in, set(codecs.NAMES.values()), "not on the page")
        tree = self.tree("big-endian")
        write_gas(tree, 2, 10, ">f8")
        self.comes_back(tree, "--profile", "halo,fitted,lch", name="big", expect=["halo", "fitted", "lch"])

    def test_text(self):
        tree = self.tree("text")
        random = np.random.default_rng(5)
        field = np.sin(np.arange(9000) / 50) + random.normal(0, 1e-3, 9000)
        ids = np.arange(1, 801)
        for rank in range(2):
            with open(tree / f"all.{rank}.txt", "w") as file:
                for step in range(3):
                    file.write(f"ITEM: TIMESTEP\n{step}\nhead of no column\n")
                    random.shuffle(ids)
                    for i in ids:
                        file.write(f"{i} {i % 3} {field[i] + step * 1e-4:.6g} {field[2 * i] * 1e-5:.6g} {i * 0.25 + step:8.3f}\n")
                for i in range(2500):
                    a, b, c = field[i], field[i + 64] * 1e3, field[i] ** 2
                    exponent = int(np.floor(np.log10(abs(a)))) + 1 if a else 0
                    file.write(f"({a:.16e}) {b:+.3f};{b:12.5E} {i:<9d}{c!r} {a / 10.0**exponent:.8f}E{exponent:+03d}\n".replace("np.float64(", ""))
                file.write("the end without a line end")
        for profile in ("fast", "balanced", "max"):
            self.comes_back(tree, "--profile", profile, name=profile, expect=["text"])

    def test_multiples(self):
        tree = self.tree("rounded")
        random = np.random.default_rng(5)
        series = np.round(random.normal(0, 1, 90_000).cumsum(), 2)
        series[::1000], series[5::77], series[9::77] = np.pi, np.nan, 9.96921e36
        for kind in ("<f8", ">f8", "<f4", ">f4"):
            np.save(tree / f"series{kind[0] == '>'}{kind[1:]}.npy", series.astype(kind))
        np.save(tree / "corners.npy", np.arange(200_000).reshape(-1, 4) // 7 * 4 + random.integers(0, 3, (50_000, 4)))
        np.save(tree / "ticks.npy", random.integers(-300, 300, 90_000) * 0.3)
        for profile in ("fast", "balanced", "max"):
            self.comes_back(tree, "--profile", profile, name=profile, expect=["multiples"])

    def test_schemes_and_sizes(self):
        tree = self.tree("gas")
        write_gas(tree, 5, 16, "<f8")
        write_mixed(tree)
        np.save(tree / "large.npy", np.sin(np.arange(150_000) / 1000))
        for scheme in ("agnostic", "agnostic-block", "aware", "aware-block"):
            for block in ("1000", "4K", "64M") if scheme.endswith("block") else ("1000",):
                words = ("--scheme", scheme, "--block-size", block, "--profile", "fast", "--memory", "64M")
                reader = self.comes_back(tree, *words, "--group-size", "3", name=f"{scheme}-{block}")
                for container in reader.opened.values():
                    block_bytes, frame_bytes = (container.catalogue.scalar(field, "<Q") for field in (26, 27))
                    self.assertEqual(min({"1000": 1000, "4K": 4096, "64M": 64 << 20}[block], frame_bytes), block_bytes)

    def test_references_to_other_sets(self):
        tree = self.tree("gas")
        write_gas(tree, 4, 10, "<f8")
        words = ("--group-size", "1", "--profile", "balanced")
        self.comes_back(tree, *words, name="first")
        (tree / "log").write_text("step 2\n")
        self.comes_back(tree, *words, "--parent", "latest", name="second", expect=["base"])
        self.comes_back(tree, *words, "--parent", "latest", name="third", expect=["base"])
        self.assertEqual(["first"], [b["name"] for b in manifest.read(self.store, "second")["bases"]])
        self.assertEqual(2, manifest.read(self.store, "third")["since_full"])

    def test_frames_that_were_predicted_from_another_set(self):
        tree = self.tree("noise")
        random = np.random.default_rng(11)
        base = {kind: random.normal(0, 30, 100_000) for kind in ("<f8", ">f4", ">i8", "<i2", "i1")}
        base["<f4"] = random.normal(0, 30, 400_000)  # more than one entry
        smooth = np.add.outer(np.sin(np.arange(250) / 40), np.cos(np.arange(240) / 50)) * 1e3
        rough = random.normal(0, 1, smooth.shape)
        for number, profile in enumerate(("fast", "balanced", "max")):
            for step, name in enumerate(("one", "two")):
                for kind, values in base.items():
                    moved = np.clip(values, -120, 120) + step * random.integers(-2, 3, len(values)) * 1e-3 * (kind[1] == "f")
                    np.save(tree / f"{kind.strip('<>')}.npy", (moved + step * (kind[-2] == "i")).astype(kind))
                np.save(tree / "trend.npy", smooth + rough + step * 1e-3 * np.cos(smooth / 500))
                more = ("--parent", f"one{number}") if step else ()
                expect = ["before", "difference", "entries"] if step else []
                self.comes_back(tree, "--profile", profile, *more, name=f"{name}{number}", expect=expect)

    def test_cubes_bound_their_values(self):
        tree = self.tree("gas")
        write_gas(tree, 2, 40, ">f8")
        values = np.cumsum(np.random.default_rng(4).normal(0, 1, (3, 70, 90)), axis=2)
        values[1, 3, 4], values[2, 60:, 80:] = np.nan, -np.inf
        np.save(tree / "walk.0.npy", values)
        np.save(tree / "count.0.npy", np.arange(9000, dtype="<i8") * 12345678901234567)
        reader = self.comes_back(tree, "--scheme", "aware", name="cubes")
        seen = 0
        for container in reader.opened.values():
            variables = [(file, variable) for file in container.files for variable in file.variables]
            for number, (low, high, with_nans) in cubes.read(container).items():
                file, variable = variables[number]
                sides = cubes.sides(variable.shape)
                (offset, length), kind = variable.extents[0], {1: "i", 2: "u", 3: "f"}[variable.type.kind]
                raw = (tree / file.name.decode()).read_bytes()[offset : offset + length]
                array = np.frombuffer(raw, "<>"[variable.type.order] + kind + str(variable.type.size)).reshape(variable.shape)
                for at in np.ndindex(low.shape):
                    cube = array[tuple(slice(i * side, (i + 1) * side) for i, side in zip(at, sides))].astype(np.longdouble)
                    self.assertEqual(np.isnan(cube).any(), with_nans[at])
                    self.assertTrue(low[at] <= np.nanmin(cube) and np.nanmax(cube) <= high[at])
                    self.assertTrue(np.nanmin(cube) < np.nextafter(low[at], np.float32(np.inf)) or np.nanmin(cube) == low[at])
                    seen += 1
        self.assertGreater(seen, 100)

    def test_real_checkpoints(self):
        archive = {"implosion_p32_64r-DD0005": ("implosion_p32_64r/DD0005", [7, 8]),
                   "noh3damr_p64_32r-DD0010": ("noh3damr_p64_32r/DD0010", [3]),
                   "cosmology_p32_32r-DD0014": ("cosmology_p32_32r/DD0014", [5])}  # fmt: skip
        tree = self.tree("real")
        for name, (directory, ranks) in archive.items():
            packed = DATA / f"{name}.tar.zst"
            if not packed.exists():
                self.skipTest(f"no {packed}")
            wanted = [f"{directory}/{Path(directory).name}.cpu{rank:04}" for rank in ranks]
            subprocess.run(["tar", "--zstd", "-xf", packed, "-C", tree, *wanted], check=True)
        self.comes_back(tree, "--profile", "paper", name="paper")
        self.comes_back(tree, "--profile", "max", name="max", expect=["fitted", "lch"])


class GoldenPlaces(unittest.TestCase):
    """A container whose variables are parts of global arrays, as a build wrote it."""

    def test_places_in_global_arrays(self):
        container = read_container(SOURCE / "tests/golden/v1-places.fbc")
        self.assertEqual((10, 1.25), (container.step, container.time))
        places = [variable.place for variable in container.files[2].variables]
        self.assertEqual([((12, 6), (8, 0)), None, ((12,), (8,))], places)
        for number, raw_bytes in enumerate(container.frame_raw_bytes):
            self.assertEqual(raw_bytes, container.frame(number)[1])


class GoldenCubes(unittest.TestCase):
    def test_cubes(self):
        container = read_container(SOURCE / "tests/golden/v1-cubes.fbc")
        (low, high, with_nans), = cubes.read(container).values()
        self.assertEqual([[-1.5, 0], [2, np.float32(1e30)], [False, True]], [low.tolist(), high.tolist(), with_nans.tolist()])


class GoldenGroups(unittest.TestCase):
    """A file of process groups, as a build wrote it: two ranks, three steps."""

    def setUp(self):
        self.data = (SOURCE / "tests/golden/v1-groups.fbc").read_bytes()

    def test_every_value(self):
        file = groups.read(self.data)
        self.assertEqual([(step, rank) for step in range(3) for rank in range(2)], [(g.step, g.rank) for g in file.groups])
        for listed in file.groups:
            own = groups.ProcessGroup(self.data, listed)
            self.assertEqual((b"atoms", b"", listed.step + 1), (listed.group, listed.file, listed.time_index))
            self.assertEqual(own.names, [write[0] for write in listed.writes])
            self.assertEqual(own.shapes, [write[3] for write in listed.writes])
            field = 0.5 * np.arange(24).reshape(4, 6) + 100 * listed.rank + listed.step
            expected = [(b"/info/title", f"step {listed.step}".encode()), (b"field", field),
                        (b"particles", np.full(listed.rank, 1.5)), (b"packed", field), (b"wave", np.array([1 + 2j, 3 + 4j])),
                        (b"wave", np.full(3, listed.rank * (1 + 1j)))]  # fmt: skip
            if listed.rank == 0:
                expected.insert(0, (b"count", np.array(listed.step - 3)))
            for (name, value), (expected_name, expected_value) in zip(own.values(), expected, strict=True):
                self.assertEqual(expected_name, name)
                np.testing.assert_array_equal(expected_value, value)
            self.assertEqual(((4, 6), (4, 12), (0, 6 * listed.rank)), next(w for w in listed.writes if w[0] == b"field")[3:])

    def test_what_lists_say_of_steps(self):
        file = groups.read(self.data)
        self.assertEqual((2, 48, 2.0, 113.5), file.summaries[2, b"field"])
        self.assertEqual((1, 1, -2.0, -2.0), file.summaries[1, b"count"])
        self.assertEqual({b"/info/author": b"someone", b"/info/size": b"count"}, file.attributes)

    def test_an_append_that_was_caught(self):
        self.assertEqual(3, groups.read(self.data).steps)
        ends = [at + 64 for at in range(len(self.data)) if self.data.startswith(groups.TRAILER, at)][2:]  # but the copies
        self.assertEqual(3, len(ends))
        for steps, (end, next_end) in enumerate(zip(ends, ends[1:]), 1):
            torn = bytearray(self.data[: next_end - 1])
            copies = torn.find(groups.TRAILER)
            torn[copies : copies + 128] = bytes(128)  # those of the writer that was not caught yet
            trailer = bytes(torn[end - 64 : end])
            torn[copies + 64 * (steps % 2) : copies + 64 * (steps % 2) + 64] = trailer
            file = groups.read(bytes(torn))
            self.assertEqual((steps, 2 * steps), (file.steps, len(file.groups)))


class Manifests(PromiseTest):
    """docs/store.md says of each of these manifests what the command says."""

    def setUp(self):
        super().setUp()
        tree = self.work / "tree"
        tree.mkdir()
        np.save(tree / "a.npy", np.random.default_rng(3).normal(size=50000))
        for name in ("zero", "one"):
            self.ok("pack", tree, "--store", self.store, "--name", name, "--step", "1", "--parent", "latest")
        text = (self.store / "sets" / "one" / "manifest").read_bytes()
        self.good = manifest.parse(text)
        self.assertEqual(2, self.good["version"])

    def changed(self, path, value):
        """The good manifest with one member set, or taken out."""
        body = copy.deepcopy(self.good)
        place = body
        for key in path[:-1]:
            place = place[key]
        if value is None:
            del place[path[-1]]
        else:
            place[path[-1]] = value
        return body

    def cases(self):
        """(manifest, whether it is one)."""
        entry = self.good["containers"][0]
        base = self.good["bases"][0]
        deep = 1
        for _ in range(50):
            deep = [{"deeper": deep}]
        yield self.good, True
        yield {key: value for key, value in self.good.items() if key not in ("bases", "since_full")} | {"version": 1}, True
        for key in manifest.REQUIRED:
            yield self.changed([key], None), False
            yield self.changed([key], False), False
        for key in manifest.CONTAINER:
            yield self.changed(["containers", 0, key], None), False
        for key in manifest.BASE:
            yield self.changed(["bases", 0, key], None), False
        good = [("version", 2), ("version", 1), ("step", -7), ("created_ns", -1), ("step", 2**63 - 1), ("ordinal", 2**63 - 1),
                ("containers", []),
                ("lossy", ["x=abs:1"]), ("lost_containers", ["b.fbc"]), ("unknown", deep), ("ranks", 0),
                ("repaired_from", "two"), ("damaged_files", 3), ("since_full", 7), ("sources", ["0a"]), ("series", "blast"), ("run", "x y"), ("host", "n1"), ("command", "a\nb"),
                ("lost_containers", [entry["name"]])]  # fmt: skip
        bad = [("version", 4), ("version", "2"), ("version", -1), ("step", 1.5), ("step", "1"), ("step", 2**63), ("ordinal", 0), ("ordinal", -1),
               ("ordinal", "1"), ("ordinal", 2**63), ("ranks", -1),
               ("ranks", 2**63), ("ranks", 1.0), ("name", "../one"), ("name", "two"), ("containers", {}), ("lossy", [1]),
               ("lossy", "x"), ("lost_containers", ["manifest"]), ("lost_containers", ["a/b"]), ("containers", [entry, entry]),
               ("bases", []), ("bases", [base, base]), ("bases", [base | {"name": "one"}]), ("bases", [base | {"name": ".x"}]),
               ("bases", {}), ("since_full", 0), ("since_full", -1), ("damaged_files", -1), ("sources", [deep]),
               ("series", ""), ("series", "a b"), ("series", "s" * 101), ("run", 1), ("command", ["a"])]  # fmt: skip
        yield from ((self.changed([key], value), True) for key, value in good)
        yield from ((self.changed([key], value), False) for key, value in bad)
        yield self.changed(["since_full"], None), False
        yield self.changed(["step"], None), True
        yield self.changed(["ordinal"], None), True
        yield self.changed(["containers", 0, "unknown"], deep), True
        for key, value in (("name", "manifest"), ("name", "latest"), ("name", "a" * 201), ("bytes", 2**63), ("bytes", -1),
                           ("tail_hash", "0" * 15), ("tail_hash", "0123456789ABCDEF"), ("tail_hash", 7)):  # fmt: skip
            yield self.changed(["containers", 0, key], value), False
        half = [entry | {"name": name, "files": 2**62} for name in ("a", "b")]
        yield self.changed(["containers"], half), False

    def is_read(self, name):
        try:
            manifest.read(self.store, name)
            return True
        except (manifest.Refused, json.JSONDecodeError):
            return False

    def test_the_rules_are_as_written(self):
        expected = {"one": True, "zero": True}
        for number, (body, is_good) in enumerate(self.cases()):
            name = f"case{number}"
            if body.get("name") == "one":
                body = body | {"name": name}
                if [base["name"] for base in body.get("bases", []) if "name" in base] == ["one"]:
                    body["bases"][0]["name"] = name
            expected[name] = is_good
            (self.store / "sets" / name).mkdir()
            (self.store / "sets" / name / "manifest").write_bytes(manifest.seal("forebay-manifest", body))
        answer = forebay("ls", self.store, "--json")
        self.assertEqual(OK, answer.code, answer.err)
        command = {entry["name"]: entry["error"] is None for entry in json.loads(answer.out)["sets"]}
        pages = {name: self.is_read(name) for name in expected}
        for name, is_good in expected.items():
            text = (self.store / "sets" / name / "manifest").read_text()
            self.assertEqual(is_good, command[name], f"what the command says of {text}")
            self.assertEqual(is_good, pages[name], f"what the pages say of {text}")


if __name__ == "__main__":
    main()
