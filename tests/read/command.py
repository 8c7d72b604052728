#!/usr/bin/env python3
"""forebay read, query and verify --consistency, compared with what h5py, netCDF4 and NumPy say of the same files.

Usage: command.py FOREBAY
"""

import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

try:
    import h5py
    import numpy

    import enzo_tree
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

try:
    import netCDF4
except ImportError:
    netCDF4 = None

SOURCE = Path(__file__).resolve().parent.parent.parent
DATA = Path(os.environ.get("FOREBAY_DATA", SOURCE.parent / "shared/data"))
FOREBAY = sys.argv[1]
OK, USAGE, NOT_FOUND, DAMAGED = 0, 2, 3, 5


def run(*words):
    done = subprocess.run([FOREBAY, *map(str, words)], capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def write_safetensors(path, arrays):
    """Arrays of doubles: a JSON header that says where each lies, and their bytes."""
    header, end = {}, 0
    for name, values in arrays.items():
        header[name] = {"dtype": "F64", "shape": values.shape, "data_offsets": [end, end + values.nbytes]}
        end += values.nbytes
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(values.tobytes() for values in arrays.values()))


def enzo_field(directory, name, field):
    """The coarsest grids of `field` as one array, from Enzo's own description."""
    parameters = (directory / name).read_text()
    size = [int(n) for n in re.search(r"TopGridDimensions\s*=\s*(.*)", parameters).group(1).split()]
    low, high = ([float(x) for x in re.search(rf"Domain{side}Edge\s*=\s*(.*)", parameters).group(1).split()]
                 for side in ("Left", "Right"))
    hierarchy = (directory / f"{name}.hierarchy").read_text()
    grids, next_level = {}, dict(re.findall(r"Grid\[(\d+)\]->NextGridThisLevel = (\d+)", hierarchy))
    for text in re.split(r"\n(?=Grid = )", hierarchy):
        if match := re.match(r"\s*Grid = (\d+)", text):
            grids[match.group(1)] = text
    whole, grid = None, "1"
    while grid != "0":
        left = [float(x) for x in re.search(r"GridLeftEdge\s*=\s*(.*)", grids[grid]).group(1).split()]
        file = re.search(r"BaryonFileName = .*?([^/\s]+)\s*$", grids[grid], re.MULTILINE).group(1)
        with h5py.File(directory / file) as source:
            values = source[f"Grid{int(grid):08}/{field}"][...]
        if whole is None:
            whole = numpy.full(size[::-1], numpy.nan, values.dtype)
        begin = [round((x - l) / (h - l) * n) for x, l, h, n in zip(left, low, high, size)][::-1]
        whole[tuple(slice(b, b + n) for b, n in zip(begin, values.shape))] = values
        grid = next_level[grid]
    return whole


class Command(unittest.TestCase):
    def setUp(self):
        self.work = Path(tempfile.mkdtemp(prefix="forebay-read-"))
        self.addCleanup(shutil.rmtree, self.work)
        self.store = self.work / "store"

    def pack(self, directory, *words):
        code, out, err = run("pack", directory, "--store", self.store, *words)
        self.assertEqual(OK, code, out + err)

    def read(self, array, *words):
        out = self.work / "out.npy"
        code, text, err = run("read", self.store, array, "--to", out, "--overwrite", *words)
        self.assertEqual(OK, code, text + err)
        return numpy.load(out)

    def query(self, text, *words):
        code, out, err = run("query", self.store, text, "--json", *words)
        self.assertEqual(OK, code, out + err)
        return json.loads(out)

    def compare_boxes(self, array, whole, seed, *words):
        numpy.testing.assert_array_equal(whole, self.read(array, *words))
        rolls = random.Random(seed)
        for _ in range(4):
            box = [sorted(rolls.sample(range(n + 1), 2)) for n in whole.shape]
            ranges = ",".join(f"{begin}:{end}" for begin, end in box)
            part = whole[tuple(slice(*one) for one in box)]
            numpy.testing.assert_array_equal(part, self.read(array, "--box", ranges, *words), ranges)

    def compare_query(self, text, holds, *words):
        """`holds`: of each step, where the query does."""
        answer = self.query(text, "--values", *words)
        found = {step["number"]: sorted(hit["index"] for hit in step["hits"]) for step in answer["steps"]}
        for number, where in enumerate(holds):
            self.assertEqual(numpy.argwhere(where).tolist(), found.get(number, []), f"{text}, step {number}")
        self.assertEqual(sum(map(numpy.count_nonzero, holds)), answer["hit_count"])
        by_index = self.query(text, *words)
        self.assertEqual(0, by_index["read_bytes"] + by_index["decoded_bytes"])
        for step in answer["steps"]:
            boxes = [one for other in by_index["steps"] if other["number"] == step["number"] for one in other["candidates"]]
            for hit in step["hits"]:
                self.assertTrue(any(all(b <= i < b + n for i, b, n in zip(hit["index"], box["begin"], box["shape"]))
                                    for box in boxes), hit)
        return answer

    def make_steps(self, count=3):
        for step in range(count):
            enzo_tree.write(self.work / f"DD{step:04}", step)
            self.pack(self.work / f"DD{step:04}")

    def test_boxes_of_enzo(self):
        self.make_steps()
        for step in range(3):
            self.compare_boxes("Density", enzo_tree.field(step), step, "--step", step)
        strided = self.read("Density", "--box", "1:5,0:4,5", "--stride", "3,2,1")
        numpy.testing.assert_array_equal(enzo_tree.field(2)[1:5:3, 0:4:2, 5:6], strided)

    def test_queries_of_enzo(self):
        self.make_steps()
        fields = [enzo_tree.field(step) for step in range(3)]
        self.compare_query("Density > 0.99", [field > 0.99 for field in fields])
        self.compare_query("Density < -0.5 and not Level <= -1.5 or Density >= 0.999",
                           [(f < -0.5) & ~((f * 2).astype("f4") <= -1.5) | (f >= 0.999) for f in fields])
        self.compare_query("nan(Density)", [numpy.zeros(enzo_tree.SHAPE, bool)] * 3)

    def test_the_first_time(self):
        steps = [0, 0.001, 0.002]
        for number, step in enumerate(steps):
            enzo_tree.write(self.work / f"DD{number:04}", step)
            self.pack(self.work / f"DD{number:04}")
        lowest = [enzo_tree.field(step).min() for step in steps]
        self.assertLess(lowest[1], lowest[0])
        code, out, err = run("query", self.store, f"Density < {float(lowest[0])!r}", "--first", "--values", "--limit", 1)
        self.assertEqual(OK, code, err)
        self.assertIn("holds for 1 element in 1 of 2 steps, first in step 1, set DD0001, time 0.0005", out)
        code, out, _ = run("query", self.store, "Density < -0.9", "--values", "--limit", 1)
        self.assertRegex(out, r"and \d+ more; --limit shows more of them")
        code, out, _ = run("query", self.store, "Density < -0.9", "--csv", "--limit", 2)
        lines = out.splitlines()
        self.assertEqual("number,step,time,set,ranks,begin0,count0,begin1,count1,begin2,count2,holds", lines[0])
        self.assertEqual(3, len(lines))

    def test_real_set(self):
        archive = DATA / "cosmology_p32_32r-DD0014.tar.zst"
        if not archive.exists() or not shutil.which("zstd"):
            self.skipTest(f"no {archive}, or no zstd")
        subprocess.run(["tar", "--zstd", "-xf", archive, "-C", self.work], check=True)
        directory = next(self.work.rglob("DD0014.hierarchy")).parent
        self.pack(directory)
        temperature, density = (enzo_field(directory, "DD0014", name) for name in ("Temperature", "Density"))
        self.assertFalse(numpy.isnan(temperature).any())
        self.compare_boxes("Temperature", temperature, 1)
        self.compare_query("Temperature > 4000", [temperature > 4000])
        self.compare_query("Temperature > 1500 and Density < 1", [(temperature > 1500) & (density < 1)])
        code, out, _ = run("verify", self.store, "--consistency")
        self.assertEqual(OK, code, out)

    @unittest.skipUnless(netCDF4, "no netCDF4")
    def test_netcdf_tiles(self):
        whole = numpy.arange(12 * 10, dtype="f4").reshape(12, 10) - 40
        (self.work / "ocean").mkdir()
        for rank in range(4):
            y, x = 6 * (rank // 2), 5 * (rank % 2)
            with netCDF4.Dataset(self.work / f"ocean/run_{rank:04}.nc", "w", format="NETCDF3_64BIT_OFFSET") as file:
                file.createDimension("y", 6)
                file.createDimension("x", 5)
                file.createVariable("sst", "f4", ("y", "x"))[:] = whole[y : y + 6, x : x + 5]
                for name, value in (("size_global", (10, 12)), ("size_local", (5, 6)), ("position_first", (x + 1, y + 1)),
                                    ("position_last", (x + 5, y + 6)), ("halo_size_start", (0, 0)), ("halo_size_end", (0, 0)),
                                    ("dimensions_ids", (1, 2))):
                    file.setncattr(f"DOMAIN_{name}", numpy.array(value, "i4"))
                file.DOMAIN_number_total, file.DOMAIN_number = numpy.int32(4), numpy.int32(rank)
        self.pack(self.work / "ocean")
        self.compare_boxes("sst", whole, 3)
        self.compare_query("sst > 70.5", [whole > 70.5])

    def test_cubes_of_blocks(self):
        """Blocks large enough for bounds of parts of them: what these leave is exactly what the values have."""
        places = numpy.meshgrid(*(numpy.arange(n) / n for n in (60, 70, 80)), indexing="ij")
        noise = numpy.random.default_rng(1).random((60, 70, 80)) / 1000
        waves = [numpy.sin(7 * places[0] + step) * numpy.cos(5 * places[1]) + places[2] + noise for step in range(2)]
        waves[0][20:23, 30:34, 40:44] += 5
        waves[1][50:, 3, 4:9] = numpy.nan
        counts = [(1000 * numpy.nan_to_num(wave)).astype("i4") for wave in waves]
        for step, (wave, count) in enumerate(zip(waves, counts)):
            (self.work / f"out{step}").mkdir()
            for rank in range(2):
                with h5py.File(self.work / f"out{step}/rank{rank}.h5", "w") as file:
                    file["wave"], file["count"] = wave[rank * 30 : rank * 30 + 30], count[rank * 30 : rank * 30 + 30]
            self.pack(self.work / f"out{step}", "--scheme", "aware")
        layout = self.work / "layout.toml"
        layout.write_text("".join(f'[[array]]\nname = "{name}"\nvariables = "/{name}"\nranks = [2, 1, 1]\n' for name in ("wave", "count")))
        for text, holds in (("wave > 1.7", lambda wave, count: wave > 1.7),
                            ("wave < -0.8 and count < -850", lambda wave, count: (wave < -0.8) & (count < -850)),
                            ("nan(wave) or count >= 1650", lambda wave, count: numpy.isnan(wave) | (count >= 1650)),
                            ("not (wave > -0.5)", lambda wave, count: ~(wave > -0.5))):  # fmt: skip
            self.compare_query(text, [holds(*both) for both in zip(waves, counts)], "--layout", layout)
            boxes = [one for step in self.query(text, "--layout", layout)["steps"] for one in step["candidates"]]
            self.assertLess(sum(numpy.prod(one["shape"]) for one in boxes), 0.6 * 2 * waves[0].size, text)
        answer = self.query("wave > 4", "--values", "--layout", layout)
        self.assertEqual(48, answer["hit_count"])
        self.assertLess(answer["decoded_bytes"], answer["raw_bytes"] / 4)

    def test_parts_of_frames_in_a_parent_set_of_another_profile(self):
        ranks, count = 7, 12800
        densities = [1 + numpy.random.default_rng(rank).random(count) for rank in range(ranks)]
        for name, seed, profile in (("A", 100, "balanced"), ("B", 200, "max")):
            tree = self.work / name
            tree.mkdir()
            for rank, density in enumerate(densities):
                helium = (1 + seed + rank) * (density - 1.5) ** 2
                write_safetensors(tree / f"rank{rank}.safetensors", {"density": density, "helium": helium})
            self.pack(tree, "--name", name, "--profile", profile, "--scheme", "aware", *(["--parent", "A"] if name == "B" else []))
        for rank, density in enumerate(densities):
            numpy.testing.assert_array_equal((201 + rank) * (density - 1.5) ** 2, self.read("helium", "--step", "1", "--block", f"{rank}"))

    def test_bad_questions(self):
        self.make_steps(1)
        for words, code, text in (
            (("query", self.store, "Density > > 1"), USAGE, "at character 11 of the query: a number is missing"),
            (("query", self.store, "Densty > 1"), NOT_FOUND, "did you mean Density?"),
            (("query", self.store, "Density > 1 and mass > 1"), USAGE, "no elements in common"),
            (("query", self.store, "Density > 1", "--steps", "5:7"), NOT_FOUND, "there are no steps 5:7, but 1 step from 0 on"),
            (("query", self.store, "Density > 1", "--steps", "-2"), NOT_FOUND, "there is no step -2, but 1 step from 0 on"),
            (("read", self.store, "Density", "--box", "13,:,:"), USAGE, "13"),
            (("verify", self.store, "--values"), USAGE, "--consistency"),
        ):
            got, out, err = run(*words)
            self.assertEqual(code, got, words)
            self.assertIn(text, err, words)

    def test_damage_is_named_and_the_others_are_told(self):
        self.make_steps(3)
        code, out, _ = run("info", self.store, "DD0001", "--json")
        container, = json.loads(out)["containers"]
        path = Path(container["path"])
        data = bytearray(path.read_bytes())
        data[(len(data) - container["index_bytes"]) * 3 // 4] ^= 1  # in the frame of Density, the largest
        path.chmod(0o600)
        path.write_bytes(data)
        code, out, err = run("query", self.store, "Density > 0.9", "--values", "--json")
        self.assertEqual(DAMAGED, code, err)
        answer = json.loads(out)
        expected = sum(numpy.count_nonzero(enzo_tree.field(step) > 0.9) for step in (0, 2))
        self.assertEqual(expected, answer["hit_count"])
        self.assertTrue(answer["failures"])
        for failure in answer["failures"]:
            self.assertEqual(1, failure["number"])
            self.assertIn("Density", failure["error"]["message"])

    def test_consistency(self):
        self.make_steps(2)
        code, out, _ = run("verify", self.store, "--consistency")
        self.assertEqual(OK, code, out)
        # A rank's grid moves over its neighbour's, and what was its own is a gap.
        directory = self.work / "DD0007"
        enzo_tree.write(directory, 7)
        text = (directory / "D.hierarchy").read_text()
        self.assertEqual(1, text.count("GridLeftEdge = 0 5 0\n"))
        (directory / "D.hierarchy").write_text(text.replace("GridLeftEdge = 0 5 0\n", "GridLeftEdge = 0 0 0\n"))
        self.pack(directory)
        code, out, _ = run("verify", self.store, "--consistency", "--json")
        self.assertEqual(DAMAGED, code, out)
        found = {(one["variable"], one["kind"]): one for one in json.loads(out)["inconsistencies"]}
        self.assertEqual(("gap", 160), (found["Density", "gap"]["kind"], found["Density", "gap"]["case_count"]))
        self.assertEqual([0, 1], found["Density", "overlap"]["ranks"])
        code, out, _ = run("verify", self.store, "--consistency", "--values")
        self.assertIn("step 2 (DD0007): Density: values: 1 pair of blocks have different values where they overlap", out)
        self.assertIn("INCONSISTENCIES", out)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
