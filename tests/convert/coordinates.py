#!/usr/bin/env python3
"""forebay convert keeps the dimensions, coordinates, units and calendars of netCDF files and HDF5's dimension scales.

Usage: coordinates.py FOREBAY
What is written is looked at with netCDF4, and with xarray where that is installed.
"""

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

try:
    import h5py
    import netCDF4
    import numpy
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

try:
    import xarray
except ImportError:
    xarray = None

FOREBAY = sys.argv[1]
STEPS, LAT, LON = 3, 5, 5  # of equal lengths, so that names cannot be guessed from sizes
SOURCES = ("NETCDF3_CLASSIC", "NETCDF4")
TARGETS = (".nc", ".cdf", ".zarr")


def run(*words):
    done = subprocess.run([FOREBAY, *map(str, words)], capture_output=True, text=True, timeout=100)
    return done.returncode, done.stdout, done.stderr


def temperature(step):
    values = numpy.arange(LAT * LON, dtype="f4").reshape(LAT, LON) + 100 * step
    return numpy.ma.masked_where(values % 7 == 0, values)


def write_month(path, kind, step, units="days since 2000-01-01"):
    with netCDF4.Dataset(path, "w", format=kind) as file:
        file.createDimension("time", 1)
        file.createDimension("lat", LAT)
        file.createDimension("lon", LON)
        extra = {"contiguous": True} if kind == "NETCDF4" else {}
        time = file.createVariable("time", "f8", ("time",), **extra)
        time.setncatts({"units": units, "calendar": "noleap"})
        time[:] = [15 + 30 * step]
        for name, size in (("lat", LAT), ("lon", LON)):
            axis = file.createVariable(name, "f4", (name,), **extra)
            axis.units = f"degrees_{name}"
            axis[:] = numpy.linspace(-40, 40, size)
        temp = file.createVariable("temp", "f4", ("time", "lat", "lon"), fill_value=numpy.float32(1e20), **extra)
        temp.units = "degC"
        temp[0] = temperature(step)


class Coordinates(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp(prefix="forebay-coordinates-"))
        self.addCleanup(shutil.rmtree, self.root)
        self.store = self.root / "store"

    def pack(self, number, make):
        tree = self.root / "tree"
        tree.mkdir()
        make(tree / "month.nc")
        code, _, error = run("pack", tree, "--store", self.store, "--name", f"month_{number}")
        self.assertEqual(code, 0, error)
        shutil.rmtree(tree)

    def convert(self, ending, *more):
        target = self.root / f"out{ending}"
        code, _, error = run("convert", self.store, "--to", target, *more)
        self.assertEqual(code, 0, error)
        return target

    def check_netcdf(self, path):
        with netCDF4.Dataset(path) as file:
            self.assertEqual(file["temp"].dimensions, ("time", "lat", "lon"))
            self.assertEqual(file["lat"].dimensions, ("lat",))
            self.assertEqual(file["lon"].units, "degrees_lon")
            self.assertEqual((file["time"].dimensions, file["time"].calendar), (("time",), "noleap"))
            self.assertEqual(file["time"][:].tolist(), [15 + 30 * step for step in range(STEPS)])
            numpy.testing.assert_array_equal(file["lat"][:], numpy.linspace(-40, 40, LAT))
            for step in range(STEPS):
                found = file["temp"][step]
                self.assertTrue((numpy.ma.getmaskarray(found) == temperature(step).mask).all())
                self.assertTrue((found == temperature(step)).all())

    def check_xarray(self, path):
        how = {"engine": "zarr", "consolidated": False} if path.suffix == ".zarr" else {}
        with xarray.open_dataset(path, **how) as data:
            self.assertEqual(data["temp"].dims, ("time", "lat", "lon"))
            self.assertEqual(set(data.coords), {"time", "lat", "lon"})
            self.assertEqual(str(data["time"].values[1])[:10], "2000-02-15")
            point = data["temp"].sel(lat=20, lon=-20).values
            numpy.testing.assert_array_equal(point, [temperature(step)[3, 1] for step in range(STEPS)])
            self.assertTrue(numpy.isnan(data["temp"].values).sum(), STEPS * temperature(0).mask.sum())

    def test_steps_are_joined_along_time(self):
        for kind in SOURCES:
            with self.subTest(kind):
                for step in range(STEPS):
                    self.pack(step, lambda path: write_month(path, kind, step))
                for ending in TARGETS:
                    target = self.convert(ending)
                    if ending != ".zarr":
                        self.check_netcdf(target)
                    if xarray is not None and (ending != ".zarr" or "zarr" in xarray.backends.list_engines()):
                        self.check_xarray(target)
                    shutil.rmtree(target) if target.is_dir() else target.unlink()
                shutil.rmtree(self.store)

    def test_a_single_step_is_as_it_was(self):
        for kind in SOURCES:
            with self.subTest(kind):
                self.pack(0, lambda path: write_month(path, kind, 1))
                target = self.convert(".nc")
                with netCDF4.Dataset(target) as file:
                    self.assertEqual(file["temp"].dimensions, ("time", "lat", "lon"))
                    self.assertEqual(file["temp"].shape, (1, LAT, LON))
                    self.assertEqual((file["time"][:].tolist(), file["time"].units), ([45], "days since 2000-01-01"))
                target.unlink()
                shutil.rmtree(self.store)

    def test_times_that_count_from_different_days_are_not_joined(self):
        self.pack(0, lambda path: write_month(path, "NETCDF4", 0, "days since 2000-01-01"))
        self.pack(1, lambda path: write_month(path, "NETCDF4", 0, "days since 2000-02-01"))
        target = self.convert(".nc")
        with netCDF4.Dataset(target) as file:
            for number, month in enumerate((1, 2)):
                self.assertEqual(file[f"step_{number}/time"].units, f"days since 2000-0{month}-01")
            self.assertEqual(file["temp"].shape, (2, LAT, LON))

    def test_the_time_of_the_step_is_known(self):
        for step in range(2):
            self.pack(step, lambda path: write_month(path, "NETCDF4", step))
        self.assertIn("time 45", run("read", self.store)[1])

    def test_scales_of_hdf5_keep_their_names(self):
        def write(path):
            with h5py.File(path, "w") as file:
                file["height"] = numpy.linspace(0, 1, 4)
                file["angle"] = numpy.arange(4.0)
                file["height"].make_scale("height of cells")
                file["angle"].make_scale()
                file["gas/density"] = numpy.ones((4, 4, 4))
                file["gas/density"].dims[0].attach_scale(file["angle"])
                file["gas/density"].dims[2].attach_scale(file["height"])
                file.attrs["Time"] = 2.5

        self.pack(0, write)
        self.assertIn("time 2.5", run("read", self.store)[1])
        target = self.convert(".nc")
        with netCDF4.Dataset(target) as file:
            names = file["gas/density"].dimensions
            self.assertEqual((names[0], names[2]), ("angle", "height"))
            self.assertNotIn(names[1], ("angle", "height"))
            numpy.testing.assert_array_equal(file["height"][:], numpy.linspace(0, 1, 4))

    def test_scales_that_differ_from_step_to_step_are_applied(self):
        """Packed values of several files, each with a scale of its own, cannot share one attribute."""
        expected = []
        for step in range(2):
            def write(path):
                with netCDF4.Dataset(path, "w") as file:
                    file.createDimension("x", 4)
                    packed = file.createVariable("v", "i2", ("x",), fill_value=-1, contiguous=True)
                    packed.set_auto_maskandscale(False)
                    packed.setncatts({"scale_factor": 0.25 * (step + 1), "add_offset": 0.0, "units": "m"})
                    packed[:] = [1, 2, -1, 4]
            self.pack(step, write)
            expected.append([0.25 * (step + 1), 0.5 * (step + 1), numpy.nan, step + 1])
        target = self.convert(".nc")
        with netCDF4.Dataset(target) as file:
            self.assertEqual(set(file["v"].ncattrs()), {"units"})
            numpy.testing.assert_array_equal(file["v"][:], expected)

    def test_scales_that_differ_from_file_to_file_are_applied(self):
        """Both files are of one step, and their blocks are one array of the target."""
        def write(path):
            for rank in range(2):
                with netCDF4.Dataset(path.with_name(f"part.{rank}.nc"), "w") as file:
                    file.createDimension("x", 4)
                    packed = file.createVariable("v", "i2", ("x",), fill_value=-1, contiguous=True)
                    packed.set_auto_maskandscale(False)
                    packed.setncatts({"scale_factor": 0.25 * (rank + 1), "add_offset": 0.0, "units": "m"})
                    packed[:] = [1, 2, -1, 4]

        self.pack(0, write)
        with netCDF4.Dataset(self.convert(".nc")) as file:
            self.assertNotIn("scale_factor", file["v"].ncattrs())
            numpy.testing.assert_array_equal(file["v"][:], [[0.25, 0.5, numpy.nan, 1], [0.5, 1, numpy.nan, 2]])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
