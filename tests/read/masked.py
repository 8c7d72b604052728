#!/usr/bin/env python3
"""Holes and packed values: forebay read, query and report beside NumPy's masked arrays, on files that netCDF4 makes.

Usage: masked.py FOREBAY [--golden STORE]
With --golden, makes the store that tests/golden has from an older version.
"""

import csv
import io
import json
import random
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

try:
    import netCDF4
    import numpy
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

SOURCE = Path(__file__).resolve().parent.parent.parent
FOREBAY = sys.argv[1]
FORMATS = ("NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF4")
SHAPE = (6, 5, 40)  # more elements than a cube has at its least
LARGE = (24, 20, 30)

# name: type, attributes, values of a random generator. `_FillValue` is given when a variable is made.
VARIABLES = {
    "temp": ("f4", {"_FillValue": numpy.float32(9.96921e36), "units": "degC"}, lambda r, s: r.normal(10, 8, s)),
    "salt": ("f8", {"missing_value": -999.0}, lambda r, s: r.uniform(30, 38, s)),
    "both": ("f4", {"_FillValue": numpy.float32(1e20), "missing_value": numpy.array([-1, -2], "f4")},
             lambda r, s: r.normal(0, 2, s)),
    "unsaid": ("f4", {}, lambda r, s: r.normal(-5, 3, s)),  # netCDF's own fill value is a hole
    "packed": ("i2", {"_FillValue": numpy.int16(-32767), "scale_factor": 0.01, "add_offset": 20.0},
               lambda r, s: r.integers(-3000, 3000, s)),
    "mirrored": ("i4", {"_FillValue": numpy.int32(-1), "scale_factor": -0.5}, lambda r, s: r.integers(0, 100000, s)),
    "small": ("i1", {"_FillValue": numpy.int8(-1), "_Unsigned": "true"}, lambda r, s: r.integers(-120, 120, s)),
    "ranged": ("i4", {"valid_range": numpy.array([-50, 400], "i4")}, lambda r, s: r.integers(-100, 500, s)),
    "least": ("f8", {"valid_min": 0.25}, lambda r, s: r.uniform(0, 1, s)),
    "most": ("i2", {"valid_max": numpy.int16(100)}, lambda r, s: r.integers(0, 130, s)),
    "plain": ("i4", {"units": "1"}, lambda r, s: r.integers(-9, 9, s)),
}
WIDE = {"wide": ("i8", {"_FillValue": numpy.int64(-2**62)}, lambda r, s: 2**53 + r.integers(0, 9, s))}
FILLS = {"temp": numpy.float32(9.96921e36), "salt": -999.0, "both": -2, "unsaid": netCDF4.default_fillvals["f4"],
         "packed": -32767, "mirrored": -1, "small": -1, "wide": -2**62}


def variables_of(kind):
    return VARIABLES | (WIDE if kind == "NETCDF4" else {})


def run(*words):
    done = subprocess.run([FOREBAY, *map(str, words)], capture_output=True, text=True, timeout=100)
    return done.returncode, done.stdout, done.stderr


def write_file(path, kind, seed, shape):
    generator = numpy.random.default_rng(seed)
    with netCDF4.Dataset(path, "w", format=kind) as file:
        for name, size in zip("zyx", shape):
            file.createDimension(name, size)
        for name, (dtype, attributes, make) in variables_of(kind).items():
            attributes = dict(attributes)
            fill = attributes.pop("_FillValue", None)
            extra = {"contiguous": True} if kind == "NETCDF4" else {}
            variable = file.createVariable(name, dtype, ("z", "y", "x"), fill_value=fill, **extra)
            variable.setncatts(attributes)
            variable.set_auto_maskandscale(False)
            values = numpy.asarray(make(generator, shape)).astype(dtype)
            if name in FILLS:
                values[generator.random(shape) < 0.3] = FILLS[name]
                values[0] = FILLS[name]  # a whole plane, as land is
            variable[...] = values


def stored(path, name):
    with netCDF4.Dataset(path) as file:
        file[name].set_auto_maskandscale(False)
        return file[name][...]


def meant(path, name):
    """NumPy's masked array of what the attributes say, from what is stored."""
    values = stored(path, name)
    with netCDF4.Dataset(path) as file:
        variable = file[name]
        attributes = {key: variable.getncattr(key) for key in variable.ncattrs()}
    if attributes.get("_Unsigned") == "true":
        values = values.view(numpy.uint8)
    mask = numpy.zeros(values.shape, bool)
    fills = [*numpy.atleast_1d(attributes.get("missing_value", []))]
    if "_FillValue" in attributes:
        fills.append(attributes["_FillValue"])
    elif values.dtype.kind == "f":
        fills.append(netCDF4.default_fillvals["f4"])
    for fill in fills:
        if attributes.get("_Unsigned") == "true":
            fill = numpy.int8(fill).view(numpy.uint8)
        mask |= values == values.dtype.type(fill)
    low, high = attributes.get("valid_range", (None, None))
    low, high = attributes.get("valid_min", low), attributes.get("valid_max", high)
    if low is not None:
        mask |= values < low
    if high is not None:
        mask |= values > high
    if "scale_factor" in attributes or "add_offset" in attributes:
        values = values.astype("f8") * attributes.get("scale_factor", 1.0) + attributes.get("add_offset", 0.0)
    return numpy.ma.masked_array(values, mask)


class Expression:
    """A random question, as text and as what NumPy makes of masked arrays: comparisons with holes are false."""

    def __init__(self, rng, arrays, depth=2):
        kind = rng.choice(["compare"] * 3 + ["and", "or", "not", "nan"]) if depth else "compare"
        if kind == "compare":
            name = rng.choice(list(arrays))
            values = arrays[name]
            some = values.compressed()
            bound = some[rng.randrange(some.size)] if some.size else 0
            number = int(bound) if values.dtype.kind in "iu" else float(bound)
            if rng.random() < 0.2:
                number = rng.choice([0, -999, 1e20, 9.969209968386869e36, -32767])
            sign, function = rng.choice([("<", numpy.ma.less), ("<=", numpy.ma.less_equal), (">", numpy.ma.greater),
                                         (">=", numpy.ma.greater_equal), ("==", numpy.ma.equal),
                                         ("!=", numpy.ma.not_equal)])
            self.text = f"{name} {sign} {number!r}"
            self.hits = numpy.ma.filled(function(values, number), False)
        elif kind == "nan":
            name = rng.choice(list(arrays))
            self.text, self.hits = f"nan({name})", numpy.ma.getmaskarray(arrays[name])
        elif kind == "not":
            inner = Expression(rng, arrays, depth - 1)
            self.text, self.hits = f"not ({inner.text})", ~inner.hits
        else:
            a, b = Expression(rng, arrays, depth - 1), Expression(rng, arrays, depth - 1)
            self.text = f"({a.text}) {kind} ({b.text})"
            self.hits = a.hits & b.hits if kind == "and" else a.hits | b.hits


class Masked(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp(prefix="forebay-masked-"))
        self.addCleanup(shutil.rmtree, self.root)

    def pack(self, kind, seed, shape=SHAPE, files=1):
        tree = self.root / "tree"
        tree.mkdir()
        paths = []
        for i in range(files):
            paths.append(tree / f"ocean{i}.nc")
            write_file(paths[-1], kind, seed + i, shape)
        store = self.root / "store"
        self.assertEqual(run("pack", tree, "--store", store, "--name", "month")[0], 0)
        return store, paths

    def read(self, store, name, *more):
        target = self.root / "out.npy"
        code, _, error = run("read", store, name, "--to", target, *more)
        self.assertEqual(code, 0, error)
        values = numpy.load(target)
        target.unlink()
        return values

    def listed(self, store, *more):
        code, out, error = run("read", store, "--json", *more)
        self.assertEqual(code, 0, error)
        return {array["name"]: array for array in json.loads(out)["arrays"]}

    def check_values(self, store, path, kind):
        for name in variables_of(kind):
            expected, found = meant(path, name), self.read(store, name)
            if name == "wide":  # no floating-point type has all of them: holes keep their stored value
                numpy.testing.assert_array_equal(found, stored(path, name))
            elif expected.dtype.kind in "iu" and not expected.mask.any() and found.dtype.kind in "iu":
                numpy.testing.assert_array_equal(found, expected)
            else:
                self.assertEqual(found.dtype.kind, "f", name)
                numpy.testing.assert_array_equal(found, expected.astype("f8").filled(numpy.nan).astype(found.dtype), name)
            self.assertEqual(self.read(store, name, "--raw").astype("f8").tolist(),
                             stored(path, name).astype("f8").tolist(), name)

    def check_queries(self, store, path, kind, seed, how_many):
        arrays = {name: meant(path, name) for name in variables_of(kind)}
        rng = random.Random(seed)
        for _ in range(how_many):
            asked = Expression(rng, arrays)
            code, out, error = run("query", store, asked.text, "--values", "--csv")
            self.assertEqual(code, 0, asked.text + error)
            rows = list(csv.DictReader(io.StringIO(out)))
            found = {tuple(int(row[f"index{d}"]) for d in range(3)) for row in rows}
            self.assertEqual(found, set(map(tuple, numpy.argwhere(asked.hits).tolist())), asked.text)
            code, out, _ = run("query", store, asked.text, "--json")
            self.assertEqual(code, 0)
            left = asked.hits.copy()
            for step in json.loads(out)["steps"]:
                for part in step["candidates"]:
                    box = tuple(slice(b, b + c) for b, c in zip(part["begin"], part["shape"]))
                    if part["holds"] == "everywhere":
                        self.assertTrue(asked.hits[box].all(), asked.text)
                    left[box] = False
            self.assertFalse(left.any(), f"{asked.text}: a place is left out")

    def test_values_are_those_of_masked_arrays(self):
        for seed, kind in enumerate(FORMATS):
            with self.subTest(kind):
                store, (path,) = self.pack(kind, seed)
                self.check_values(store, path, kind)
                shutil.rmtree(store)
                shutil.rmtree(path.parent)

    def test_bounds_are_of_what_is_no_hole(self):
        for seed, kind in enumerate(FORMATS):
            with self.subTest(kind):
                store, (path,) = self.pack(kind, seed)
                for name, about in self.listed(store).items():
                    expected = meant(path, name)
                    self.assertEqual(about["hole_count"], numpy.ma.getmaskarray(expected).sum(), name)
                    self.assertEqual(about["nan_count"], 0)
                    self.assertEqual(about["min"], float(numpy.float32(expected.min())) if about["type"] == "float32"
                                     else float(expected.min()), name)
                    self.assertEqual(about["max"], float(numpy.float32(expected.max())) if about["type"] == "float32"
                                     else float(expected.max()), name)
                self.assertIn("HOLES", run("read", store)[1])
                raw = self.listed(store, "--raw")
                self.assertEqual((raw["packed"]["type"], raw["small"]["type"]), ("int16", "int8"))
                self.assertEqual((raw["plain"]["min"], raw["plain"]["hole_count"]), (stored(path, "plain").min(), 0))
                self.assertIsNone(raw["temp"]["max"], "the largest stored value was not kept")
                shutil.rmtree(store)
                shutil.rmtree(path.parent)

    def test_queries_are_those_of_masked_arrays(self):
        for seed, kind in enumerate(FORMATS):
            with self.subTest(kind):
                store, (path,) = self.pack(kind, seed, LARGE)
                self.check_queries(store, path, kind, seed, 25)
                shutil.rmtree(store)
                shutil.rmtree(path.parent)

    def test_raw_queries_see_what_is_stored(self):
        store, (path,) = self.pack("NETCDF4", 5, LARGE)
        for name, text in (("temp", "temp > 1e36"), ("packed", "packed == -32767"), ("small", "small < 0")):
            code, out, error = run("query", store, text, "--values", "--json", "--raw")
            self.assertEqual(code, 0, error)
            values = stored(path, name)
            hits = {"temp": values > 1e36, "packed": values == -32767, "small": values < 0}[name].sum()
            self.assertEqual(json.loads(out)["hit_count"], hits, name)

    def test_files_that_disagree_are_read_as_they_are_stored(self):
        """No type of numbers has both files' holes: what is a hole of one is a value, which questions find."""
        tree, store = self.root / "tree", self.root / "store"
        tree.mkdir()
        for rank, fill in enumerate((-9, -8)):
            with netCDF4.Dataset(tree / f"part.{rank}.nc", "w") as file:
                file.createDimension("x", 40)
                wide = file.createVariable("v", "i8", ("x",), fill_value=fill, contiguous=True)
                wide.set_auto_maskandscale(False)
                wide[:] = [fill, *range(39)]
        self.assertEqual(run("pack", tree, "--store", store, "--name", "month")[0], 0)
        self.assertIsNone(self.listed(store)["v"]["min"], "the smallest stored value was not kept")
        code, out, error = run("query", store, "v < 0", "--values", "--json")
        self.assertEqual((code, json.loads(out)["hit_count"]), (0, 2), error)

    def test_a_box_and_points_are_converted_as_well(self):
        store, (path,) = self.pack("NETCDF3_CLASSIC", 2)
        expected = meant(path, "packed").filled(numpy.nan)
        box = self.read(store, "packed", "--box", "1:5,2:4,3:30", "--stride", "2,1,3")
        numpy.testing.assert_array_equal(box, expected[1:5:2, 2:4, 3:30:3].astype(box.dtype)[:box.shape[0]])
        points = self.root / "points"
        points.write_text("1 2 3\n0 0 0\n5 4 39\n")
        some = self.read(store, "packed", "--points", points)
        numpy.testing.assert_array_equal(some, expected[[1, 0, 5], [2, 0, 4], [3, 0, 39]].astype(some.dtype))

    def test_a_store_of_an_older_version_reads_the_same(self):
        """It has no meanings, and characteristics with fill values among them."""
        store = SOURCE / "tests/golden/v1-masked"
        for number, kind in enumerate(("NETCDF3_CLASSIC", "NETCDF4")):
            path = self.root / f"{kind}.nc"
            write_file(path, kind, 7, SHAPE)
            copy = self.root / f"store{number}"
            shutil.copytree(store / kind, copy)
            self.check_values(copy, path, kind)
            self.check_queries(copy, path, kind, 11, 10)
            listed = self.listed(copy)
            self.assertIsNone(listed["temp"]["max"], "whether it is a fill value, nobody knows")
            self.assertEqual(listed["plain"]["max"], stored(path, "plain").max())

    def test_the_report_shows_no_fill_value(self):
        store, _ = self.pack("NETCDF4", 3)
        self.assertEqual(run("report", store, "--to", self.root / "report")[0], 0)
        page = (self.root / "report/index.html").read_text()
        self.assertIn("temp", page)
        self.assertNotIn("e+36", page)

    def test_targets_with_attributes_get_what_is_stored(self):
        store, (path,) = self.pack("NETCDF4", 4)
        target = self.root / "out.nc"
        code, _, error = run("convert", store, "--to", target)
        self.assertEqual(code, 0, error)
        for name in VARIABLES:
            with netCDF4.Dataset(path) as before, netCDF4.Dataset(target) as after:
                a, b = before[name][...], numpy.ma.squeeze(after[name][...])
                numpy.testing.assert_array_equal(numpy.ma.getmaskarray(b), numpy.ma.getmaskarray(a), name)
                numpy.testing.assert_array_equal(b.compressed(), a.compressed(), name)
        arrays = self.root / "arrays"
        self.assertEqual(run("convert", store, "temp", "--format", "npy", "--to", arrays)[0], 0)
        self.assertTrue(numpy.isnan(numpy.load(arrays / "temp.npy")).any())


def make_golden(target):
    for kind in ("NETCDF3_CLASSIC", "NETCDF4"):
        with tempfile.TemporaryDirectory() as tree:
            write_file(Path(tree) / "ocean.nc", kind, 7, SHAPE)
            code, _, error = run("pack", tree, "--store", target / kind, "--name", "month")
            assert code == 0, error


if __name__ == "__main__":
    if "--golden" in sys.argv:
        make_golden(Path(sys.argv[3]))
    else:
        unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
