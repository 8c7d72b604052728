#!/usr/bin/env python3
"""forebay convert: the values, names and attributes of what it writes, and that nothing is left of what it cannot write.

Usage: command.py FOREBAY
Zarr is read by zarr where that is installed, and always by the few lines below.
"""

import base64
import itertools
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from xml.etree import ElementTree

try:
    import h5py
    import numpy
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

try:
    import netCDF4
except ImportError:
    netCDF4 = None

try:
    import zarr
except ImportError:
    zarr = None

try:
    import xarray
except ImportError:
    xarray = None

SOURCE = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(SOURCE / "tests/promises"))
from stranger import libs  # noqa: E402

FOREBAY = sys.argv[1]
OK, USAGE, NOT_FOUND, EXISTS, DAMAGED = 0, 2, 3, 4, 5
RANKS, STEPS = 4, 3
LAYOUT = '[[array]]\nname = "Density"\nvariables = "/Block*/Density"\nranks = [2, 2]\n'


def run(*words):
    done = subprocess.run([FOREBAY, *map(str, words)], capture_output=True, text=True, timeout=100)
    return done.returncode, done.stdout, done.stderr


def density(step):
    """The global array of a step: 2 x 2 blocks of 70 x 90."""
    return numpy.add.outer(numpy.arange(140.0), numpy.arange(180.0) / 1000) + 1000 * step


def read_zarr(path):
    """An array, from the specification alone."""
    about = json.loads((path / "zarr.json").read_text())
    assert about["zarr_format"] == 3 and about["node_type"] == "array", about
    assert [codec["name"] for codec in about["codecs"]] == ["bytes", "zstd"]
    shape, chunk = about["shape"], about["chunk_grid"]["configuration"]["chunk_shape"]
    kind = numpy.dtype(about["data_type"]).newbyteorder("<")
    whole = numpy.zeros(shape, kind)
    for index in itertools.product(*(range(-(-n // c)) for n, c in zip(shape, chunk))):
        raw = libs.unzstd((path / "/".join(["c", *map(str, index)])).read_bytes())
        part = numpy.frombuffer(raw, kind).reshape(chunk)
        place = tuple(slice(i * c, min((i + 1) * c, n)) for i, c, n in zip(index, chunk, shape))
        whole[place] = part[tuple(slice(0, p.stop - p.start) for p in place)]
    if zarr:
        numpy.testing.assert_array_equal(zarr.open_array(str(path), mode="r")[...], whole)
    return whole, about


class Convert(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = Path(tempfile.mkdtemp(prefix="forebay-convert-"))
        cls.store, cls.layout = cls.root / "store", cls.root / "layout.toml"
        cls.layout.write_text(LAYOUT)
        for step in range(STEPS):
            tree = cls.root / f"dump_{step}"
            tree.mkdir()
            for rank in range(RANKS):
                with h5py.File(tree / f"rank{rank}.h5", "w") as file:
                    block = density(step)[rank // 2 * 70 :, rank % 2 * 90 :][:70, :90]
                    file[f"Block{rank:08}/Density"] = block
                    file[f"Block{rank:08}/Density"].attrs["units"] = "g"
                    file["mass"] = numpy.arange(10, dtype="f4") + rank + 100 * step
                    file["ids"] = numpy.arange(rank + 1, dtype="i8")
            assert run("pack", tree, "--store", cls.store)[0] == OK
        cls.last = cls.root / f"dump_{STEPS - 1}"

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.root)

    def setUp(self):
        self.out = Path(tempfile.mkdtemp(dir=self.root))

    def converted(self, *words):
        code, said, complained = run("convert", self.store, *words)
        self.assertEqual((OK, ""), (code, complained))
        return said

    def refused(self, code, text, *words):
        before = sorted(self.out.iterdir())
        got, said, complained = run("convert", self.store, *words)
        self.assertEqual((code, ""), (got, said), complained)
        self.assertIn(text, complained)
        self.assertEqual(before, sorted(self.out.iterdir()), "something was left")

    def test_global_arrays_of_all_steps(self):
        self.converted("Density", "--layout", self.layout, "--to", self.out / "all.zarr")
        whole, about = read_zarr(self.out / "all.zarr/Density")
        numpy.testing.assert_array_equal(whole, numpy.stack([density(step) for step in range(STEPS)]))
        self.assertEqual(["time", "y", "x"], about["dimension_names"])
        times, _ = read_zarr(self.out / "all.zarr/time")
        self.assertEqual([0, 1, 2], list(times))
        self.assertEqual(sorted(os.listdir(self.out / "all.zarr")), ["Density", "time", "zarr.json"])

    def test_hdf5_and_netcdf(self):
        for ending in ("h5", "nc"):
            target = self.out / f"all.{ending}"
            raw = self.out / f"raw.{ending}"
            self.converted("Density", "--layout", self.layout, "--to", target)
            self.converted("Block*/Density", "ids", "--to", raw)
            with h5py.File(target) as file, h5py.File(raw) as stored:
                density_of_all = file["Density"]
                numpy.testing.assert_array_equal(density_of_all[...], numpy.stack([density(step) for step in range(STEPS)]))
                self.assertEqual(["/time", "/y", "/x"], [dimension[0].name for dimension in density_of_all.dims])
                numpy.testing.assert_array_equal(stored["Block00000002/Density"][1], density(1)[70:, :90])
                self.assertEqual(b"g", stored["Block00000002/Density"].attrs["units"])
                self.assertEqual([0, 1, 2], list(file["time"]))
                numpy.testing.assert_array_equal(stored["step_2/ids/rank_3"], numpy.arange(4))
            if netCDF4:
                with netCDF4.Dataset(target) as file:
                    self.assertEqual(("time", "y", "x"), file["Density"].dimensions)
                    numpy.testing.assert_array_equal(file["Density"][2], density(2))

    def test_a_run_goes_into_a_store_in_parts_and_with_little_memory(self):
        store = self.out / "copy"
        self.converted("Block*/Density", "--steps", "0:1", "--format", "store", "--to", f"{store}/", "--memory", "64M")
        code, _, complained = run("convert", f"{self.store}/", "Block*/Density", "--steps", "1:", "--format", "store", "--to", store)
        self.assertEqual((OK, ""), (code, complained))
        names = [one["name"] for one in json.loads(run("ls", store, "--json")[1])["sets"]]
        self.assertEqual([f"store-{step + 1:06}" for step in range(STEPS)], sorted(names))
        self.converted("Block*/Density", "--to", self.out / "a", "--format", "npy")
        self.assertEqual(OK, run("convert", store, "--to", self.out / "b", "--format", "npy")[0])
        for path in (self.out / "a").glob("Block*/Density.npy"):
            numpy.testing.assert_array_equal(numpy.load(path), numpy.load(self.out / "b" / path.relative_to(self.out / "a")))
        self.assertEqual(["a", "b", "copy"], sorted(path.name for path in self.out.iterdir()), "nothing staged is left")

    @unittest.skipUnless(netCDF4, "netCDF4 is not installed")
    def test_thousands_of_arrays_share_a_dimension(self):
        """A scale's list of its users is an attribute, which has more than 64 KiB from 4096 arrays on."""
        many, tree = 5000, self.out / "many"
        tree.mkdir()
        with h5py.File(tree / "grids.h5", "w") as file:
            for i in range(many):
                file[f"a{i:04}"] = numpy.arange(4.0) + i
        store = self.out / "many-store"
        self.assertEqual(run("pack", tree, "--store", store)[0], OK)
        for kind in ("hdf5", "netcdf"):
            target = self.out / f"many.{kind}"
            code, _, error = run("convert", store, "--format", kind, "--to", target)
            self.assertEqual(code, OK, error)
            with h5py.File(target) as file:
                arrays = [file[f"a{i:04}"] for i in range(many)]
                self.assertTrue(all((numpy.squeeze(array[...]) == numpy.arange(4.0) + i).all()
                                    for i, array in enumerate(arrays)))
                scale = arrays[-1].dims[arrays[-1].ndim - 1][0]
                self.assertEqual(len(scale.attrs["REFERENCE_LIST"]), many)
                for array in (arrays[0], arrays[-1]):
                    self.assertTrue(h5py.h5ds.is_attached(array.id, scale.id, array.ndim - 1))
            if kind == "netcdf" and netCDF4 is not None:
                with netCDF4.Dataset(target) as file:
                    self.assertEqual(len({file[f"a{i:04}"].dimensions for i in range(many)}), 1)

    def test_classic_netcdf(self):
        target, last = self.out / "all.cdf", self.out / "last.nc"
        self.converted("Block*/Density", "ids", "--to", target)
        self.converted("Density", "--layout", self.layout, "--steps", "-1", "--format", "netcdf3", "--to", last)
        with netCDF4.Dataset(target) as file:
            self.assertEqual("NETCDF3_64BIT_DATA", file.data_model)  # times are 64-bit integers
            numpy.testing.assert_array_equal(file["Block00000002.Density"][1], density(1)[70:, :90])
            self.assertEqual("g", file["Block00000002.Density"].units)
            self.assertEqual([0, 1, 2], list(file["time"][...]))
            numpy.testing.assert_array_equal(file["step_2.ids.rank_3"][...], numpy.arange(4))
        with netCDF4.Dataset(last) as file:
            self.assertEqual("NETCDF3_64BIT_OFFSET", file.data_model)
            self.assertEqual(("y", "x"), file["Density"].dimensions)
            numpy.testing.assert_array_equal(file["Density"][...], density(STEPS - 1))
        # Our own reader knows it, too.
        tree, store = self.out / "tree", self.out / "classic-store"
        tree.mkdir()
        last.rename(tree / "last.nc")
        self.assertEqual(OK, run("pack", tree, "--store", store)[0])
        self.assertIn("netcdf", run("ls", store, "tree")[1])
        self.assertIn("/Density", run("ls", store, "tree", "--variables")[1])

    def test_attributes_that_a_format_keeps_or_two_have(self):
        tree, store = self.out / "scales", self.out / "scales-store"
        tree.mkdir()
        for rank in range(2):
            with h5py.File(tree / f"rank{rank}.nc", "w") as file:
                file["x"], file["level"] = numpy.arange(5.0) + rank, numpy.arange(10.0).reshape(2, 5) + rank
                for number, name in enumerate(("x", "level")):
                    file[name].make_scale(name)
                    file[name].attrs["_Netcdf4Dimid"] = numpy.int32(number)
                file["level"].attrs["_Netcdf4Coordinates"] = numpy.array([1, 0], "i4")
                file["T"] = numpy.full((2, 5), 7.0 + rank, "f4")
                file["T"].dims[1].attach_scale(file["x"])
                file["T"].attrs.update({"ranks": "mine", "NAME": "kept", "units": "K", "_FillValue": numpy.float32(-1)})
        # So that the plan has an attribute of its own, by rank 1's name: ranks 1 and 2 write it.
        (tree / "rank0.nc").rename(tree / "rank2.nc")
        with h5py.File(tree / "rank0.nc", "w") as file:
            file["other"] = numpy.arange(3)
        self.assertEqual(OK, run("pack", tree, "--store", store)[0])
        for ending in ("nc", "h5", "zarr"):
            code, said, complained = run("convert", store, "--to", self.out / f"scales.{ending}")
            self.assertEqual((OK, ""), (code, complained))
            self.assertIn("attributes are left out: HDF5 and netCDF keep dimensions in them", said)
        with h5py.File(self.out / "scales.nc") as file:
            attributes = dict(file["T"].attrs)
            self.assertEqual((b"mine", b"kept", b"K", -1), tuple(attributes[n] for n in ("ranks", "NAME", "units", "_FillValue")))
            self.assertEqual([1, 2], list(attributes["ranks_"]))
            self.assertEqual([], [n for n in file["x"].attrs if n.startswith("_Net") or n in ("CLASS", "NAME")])
        _, about = read_zarr(self.out / "scales.zarr/T")
        fill = base64.b64encode(struct.pack("<d", -1)).decode()  # as xarray wants it
        self.assertEqual({"ranks": "mine", "ranks_": [1, 2], "NAME": "kept", "units": "K", "_FillValue": fill}, about["attributes"])
        if netCDF4:
            with netCDF4.Dataset(self.out / "scales.nc") as file:
                self.assertEqual(("rank", "y", "x_"), file["T"].dimensions)
                self.assertEqual("mine", file["T"].ranks)
                file["T"].set_auto_mask(False)
                numpy.testing.assert_array_equal(file["T"][...], numpy.broadcast_to([[[8.0]], [[7.0]]], (2, 2, 5)))

    def test_fill_values_of_zarr_are_what_xarray_reads(self):
        """It opens no store that has another one, not even to read other arrays."""
        tree, store, target = self.out / "fills", self.out / "fills-store", self.out / "fills.zarr"
        tree.mkdir()
        fills = {"nan": ("f4", numpy.float32("nan")), "inf": ("f8", -numpy.inf), "whole": ("f8", numpy.int32(-9)),
                 "integer": ("i4", numpy.int32(-9)), "text": ("f4", "none"), "pair": ("f4", numpy.array([1.0, 2.0])),
                 "not": ("i4", numpy.nan)}
        with h5py.File(tree / "rank0.h5", "w") as file:
            for name, (kind, fill) in fills.items():
                file[name] = numpy.arange(4, dtype=kind)
                file[name].attrs["_FillValue"] = fill
        self.assertEqual(OK, run("pack", tree, "--store", store)[0])
        code, _, complained = run("convert", store, "--to", target)
        self.assertEqual((OK, ""), (code, complained))
        found = {name: read_zarr(target / name)[1]["attributes"].get("_FillValue") for name in fills}
        self.assertEqual([None] * 3, [found.pop(name) for name in ("text", "pair", "not")], "which are no number")
        self.assertEqual(-9, found.pop("integer"))
        for name, fill in found.items():
            numpy.testing.assert_equal(struct.unpack("<d", base64.b64decode(fill, validate=True))[0], fills[name][1])
        if xarray and "zarr" in xarray.backends.list_engines():
            with xarray.open_zarr(target, mask_and_scale=False, consolidated=False) as opened:
                for name in found:
                    numpy.testing.assert_equal(opened[name].attrs["_FillValue"], fills[name][1])

    def test_xdmf(self):
        self.converted("Density", "--layout", self.layout, "--to", self.out / "run.xmf")
        grids = ElementTree.parse(self.out / "run.xmf").getroot().findall("Domain/Grid/Grid")
        self.assertEqual(["0", "1", "2"], [grid.find("Time").get("Value") for grid in grids])
        self.assertEqual("2 141 181", grids[2].find("Grid/Topology").get("Dimensions"))
        item = grids[2].find("Grid/Attribute/DataItem")
        self.assertEqual("1 140 180", item.get("Dimensions"), "a plane is one cell thick: readers would stand it on its edge")
        begin, stride, count = (tuple(map(int, part)) for part in zip(*[iter(item.find("DataItem").text.split())] * 3))
        file, path = item.findall("DataItem")[1].text.split(":")
        with h5py.File(self.out / file) as data:
            slab = data[path][tuple(slice(b, b + n * s, s) for b, s, n in zip(begin, stride, count))]
        numpy.testing.assert_array_equal(slab[0], density(2))

    def test_a_plug_in_of_another_build_is_refused(self):
        compiler = shutil.which("cc") or shutil.which("gcc")
        if not compiler:
            self.skipTest("there is no C compiler")
        (self.out / "other/lib/forebay/convert").mkdir(parents=True)
        for part in ("bin/forebay", "libexec/forebay/forebay-arrays"):
            (self.out / "other" / part).parent.mkdir(parents=True)
            shutil.copy(Path(FOREBAY).resolve().parent.parent / part, self.out / "other" / part)
        program = self.out / "other/bin/forebay"
        plugin, source = self.out / "other/lib/forebay/convert/hdf5.so", self.out / "plugin.c"
        for text in ("void *forebay_make_sink(void) { return 0; }",
                     "void *forebay_make_sink(void) { return 0; } unsigned long forebay_sink_build(void) { return 7; }"):
            source.write_text(text)
            subprocess.run([compiler, "-shared", "-fPIC", "-o", plugin, source], check=True, timeout=60)
            done = subprocess.run([program, "convert", self.store, "mass", "--to", self.out / "run.h5"], capture_output=True,
                                  text=True, timeout=60)
            self.assertNotEqual(OK, done.returncode)
            self.assertIn("another build of Forebay", done.stderr)
            self.assertFalse((self.out / "run.h5").exists())

    def test_what_no_rank_wrote(self):
        """0, the array's own _FillValue, or what --fill says; text and NaN of integers cannot be had."""
        tree, store, layout = self.out / "tree", self.out / "fill-store", self.out / "layout.toml"
        tree.mkdir()
        for rank in range(2):
            with h5py.File(tree / f"rank{rank}.h5", "w") as file:
                file["start"] = numpy.array([rank, 2 * rank])
                for name, kind in (("T", "f4"), ("count", "u1"), ("own", "i2")):
                    file[name] = numpy.full((1, 2), rank + 1, kind)
                file["own"].attrs["_FillValue"] = numpy.int16(-7)
        layout.write_text("".join(f'[[array]]\nname = "{name}"\nvariables = "/{name}"\nshape = [2, 4]\noffset = "/start"\n'
                                  for name in ("T", "count", "own")))
        self.assertEqual(OK, run("pack", tree, "--store", store)[0])

        def values(*words):
            target = self.out / f"run{len(list(self.out.iterdir()))}.h5"
            code, said, complained = run("convert", store, "T", "count", "own", "--layout", layout, "--to", target, *words)
            self.assertEqual((OK, ""), (code, complained))
            with h5py.File(target) as file:
                found = {name: (file[name][0, 2], file[name].attrs.get("_FillValue")) for name in ("T", "count", "own")}
                for name in found:
                    self.assertEqual((1, 2), (file[name][0, 0], file[name][1, 3]))
            return said, found

        said, found = values()
        self.assertEqual({"T": (0, None), "count": (0, None), "own": (-7, -7)}, found)
        self.assertIn("12 elements were written by no rank, and are what _FillValue of the array says, or 0\n", said)
        said, found = values("--fill", "nan")
        numpy.testing.assert_equal(found, {"T": (numpy.nan, numpy.nan), "count": (0, None), "own": (-7, -7)})
        self.assertIn("1 arrays have no element nan", said)
        said, found = values("--fill", "2.5e2")
        self.assertEqual({"T": (250, 250), "count": (250, 250), "own": (-7, -7)}, found)
        self.assertNotIn("no element", said)
        said, found = values("--fill", "-1")
        self.assertEqual((0, None), found["count"], "it has no -1")
        with_fill = ("--layout", layout, "--fill")
        self.assertEqual(USAGE, run("convert", store, *with_fill, "much", "--to", self.out / "much.h5")[0])
        self.assertEqual(USAGE, run("convert", store, *with_fill, "0", "--to", self.out / "run.bp")[0])
        code, _, said = run("convert", store, "T", *with_fill, "nan", "--to", self.out / "holes.xmf")
        self.assertEqual(OK, code, said)
        with h5py.File(self.out / "holes.h5") as file:
            self.assertEqual(6 - 2, numpy.isnan(file["T"][...]).sum())

    def test_levels_of_a_refined_mesh_lie_in_one_domain(self):
        tree, layout = self.out / "tree", self.out / "layout.toml"
        tree.mkdir()
        with h5py.File(tree / "rank0.h5", "w") as file:
            for name, shape in (("coarse", (4, 6)), ("fine", (8, 12)), ("volume", (2, 3, 4))):
                file[name] = numpy.zeros(shape)
        layout.write_text("".join(f'[[array]]\nname = "{name}"\nvariables = "/{of}"\nranks = {ranks}\n' for name, of, ranks in
                                  (("T", "coarse", [1, 1]), ("T@1", "fine", [1, 1]), ("V", "volume", [1, 1, 1]))))
        self.assertEqual(OK, run("pack", tree, "--store", self.out / "levels")[0])
        code, _, said = run("convert", self.out / "levels", "--layout", layout, "--to", self.out / "levels.xmf")
        self.assertEqual(OK, code, said)
        grids = ElementTree.parse(self.out / "levels.xmf").getroot().findall("Domain/Grid/Grid/Grid")
        found = {grid.find("Attribute").get("Name"): (grid.find("Topology").get("Dimensions"),
                                                      [item.text for item in grid.findall("Geometry/DataItem")]) for grid in grids}
        self.assertEqual({"T": ("2 5 7", ["0 0 0", "1 1 1"]), "T@1": ("2 9 13", ["0 0 0", "0.5 0.5 0.5"]),
                          "V": ("3 4 5", ["0 0 0", "1 1 1"])}, found)  # fmt: skip

    def test_a_part_in_chunks_of_its_own(self):
        self.converted("Density", "--layout", self.layout, "--steps", "1:", "--box", "10:31,5:", "--stride", "3,2", "--chunk", "4,50",
                       "--to", self.out / "part.zarr")
        whole, about = read_zarr(self.out / "part.zarr/Density")
        numpy.testing.assert_array_equal(whole, numpy.stack([density(step)[10:31:3, 5::2] for step in (1, 2)]))
        self.assertEqual([1, 4, 50], about["chunk_grid"]["configuration"]["chunk_shape"])

    def test_times_of_steps_are_one_chunk_whatever_the_chunks_of_arrays(self):
        file, target = SOURCE / "tests/fuzz/bp_fuzz/zlib", self.out / "times.zarr"
        code, _, complained = run("convert", file, "temperature", "--chunk", "1", "--to", target)
        self.assertEqual((OK, ""), (code, complained))
        times, about = read_zarr(target / "time")
        self.assertEqual(([2], [2]), (about["shape"], about["chunk_grid"]["configuration"]["chunk_shape"]))
        self.assertEqual(2, len(set(times.tolist())))

    def test_arrays_of_ranks(self):
        self.converted("mass", "ids", "--format", "npy", "--to", self.out / "arrays")
        mass = numpy.load(self.out / "arrays/mass.npy")
        self.assertEqual(((STEPS, RANKS, 10), "float32"), (mass.shape, mass.dtype.name))
        expected = numpy.arange(10)[None, None] + numpy.arange(RANKS)[None, :, None] + 100 * numpy.arange(STEPS)[:, None, None]
        numpy.testing.assert_array_equal(mass, expected)
        for step, rank in itertools.product(range(STEPS), range(RANKS)):
            ids = numpy.load(self.out / f"arrays/step_{step}/ids/rank_{rank}.npy")
            numpy.testing.assert_array_equal(ids, numpy.arange(rank + 1))

    def test_one_array_in_a_file(self):
        said = self.converted("Density", "--layout", self.layout, "--steps", "latest", "--to", self.out / "one.npy")
        numpy.testing.assert_array_equal(numpy.load(self.out / "one.npy"), density(STEPS - 1))
        self.assertIn("1 array of 1 step", said)

    def test_step_groups_and_attributes(self):
        self.converted("Block*/Density", "--step-groups", "--steps", "0:2", "--to", self.out / "groups.zarr")
        for step in range(2):
            whole, about = read_zarr(self.out / f"groups.zarr/step_{step}/Block00000002/Density")
            numpy.testing.assert_array_equal(whole, density(step)[70:, :90])
            self.assertEqual({"units": "g"}, about["attributes"])

    def test_what_is_there_stays(self):
        target = self.out / "one.npy"
        target.write_text("mine")
        self.refused(EXISTS, "--overwrite", "mass", "--steps", "0", "--to", target)
        self.assertEqual("mine", target.read_text())
        self.refused(EXISTS, "no mark", "mass", "--steps", "0", "--to", target, "--overwrite")
        self.assertEqual("mine", target.read_text())
        target.unlink()
        self.converted("mass", "--steps", "0", "--to", target)
        self.converted("mass", "--steps", "0", "--to", target, "--overwrite")
        self.assertEqual((RANKS, 10), numpy.load(target).shape)
        self.converted("mass", "--to", self.out / "a.zarr")
        self.converted("ids", "--to", self.out / "a.zarr", "--overwrite")
        self.assertFalse((self.out / "a.zarr/mass").exists())

    def test_what_cannot_be_done(self):
        to = ("--to", self.out / "x.zarr")
        self.refused(NOT_FOUND, "'Densit'", "Densit", *to)
        self.refused(NOT_FOUND, "there are no steps", "mass", "--steps", "7:", *to)
        self.refused(USAGE, "140", "Density", "--layout", self.layout, "--box", "0:10,200", *to)
        self.refused(USAGE, "no global array", "mass", "--box", "0:10", *to)
        self.refused(USAGE, "one file is given", "--to", self.out / "x.npy")
        self.refused(USAGE, "--format is one of npy, hdf5, netcdf, netcdf3, xdmf, zarr, bp, store", "--to", self.out / "x.h6")
        self.refused(NOT_FOUND, "mkdir -p", "mass", "--to", self.out / "no/x.zarr")
        self.refused(USAGE, "--to", "mass")

    def test_types_that_are_not_there(self):
        tree = self.out / "tree"
        tree.mkdir()
        with h5py.File(tree / "a.h5", "w") as file:
            for number in range(12):
                file[f"odd{number}"] = numpy.zeros(3, dtype="V5")
        self.assertEqual(OK, run("pack", tree, "--store", self.out / "other")[0])
        for name, ending in (("Zarr", "zarr"), ("HDF5", "h5"), ("netCDF", "nc")):
            code, _, said = run("convert", self.out / "other", "--to", self.out / f"x.{ending}")
            self.assertNotEqual(OK, code)
            self.assertIn(f"{name} has no type for", said)
            self.assertEqual([], [number for number in range(12) if f"'odd{number}' of" not in said], "all are named at once")
            self.assertFalse((self.out / f"x.{ending}").exists())

    def test_all_arrays_that_cannot_be_taken_are_named_at_once(self):
        code, _, said = run("convert", self.store, "mass", "ids", "--box", "0:10", "--to", self.out / "x.zarr")
        self.assertEqual(USAGE, code)
        self.assertRegex(said, "'ids' is no global array.*; 'mass' is no global array")
        for step, kind in enumerate(("f4", "f8")):
            tree = self.out / f"step{step}"
            tree.mkdir()
            with h5py.File(tree / "a.h5", "w") as file:
                for name in ("x", "y", "z"):
                    file[name] = numpy.zeros(3, dtype="f4" if name == "z" else kind)
            self.assertEqual(OK, run("pack", tree, "--store", self.out / "kinds")[0])
        code, _, said = run("convert", self.out / "kinds", "--to", self.out / "x.bp")
        self.assertNotEqual(OK, code)
        self.assertRegex(said, "these have others in some steps: 'x', 'y' ")
        self.assertFalse((self.out / "x.bp").exists())

    def test_damage_ends_it_and_leaves_nothing(self):
        store = self.out / "damaged"
        shutil.copytree(self.store, store)
        for container in store.rglob("*.fbc"):
            data = bytearray(container.read_bytes())
            for at in range(600, min(len(data), 60_000), 500):
                data[at] ^= 1
            container.write_bytes(data)
        before = sorted(self.out.iterdir())
        for target in ("x.zarr", "x.h5", "x.npy"):
            code, _, said = run("convert", store, "mass", "--to", self.out / target)
            self.assertEqual(DAMAGED, code, said)
            self.assertEqual(before, sorted(self.out.iterdir()))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
