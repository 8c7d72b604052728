#!/usr/bin/env python3
"""xarray's engine: lazy, with time, and with dask."""

import sys

import numpy as np
from support import LAYOUT, SHAPE, StoreTest, density, main

try:
    import xarray as xr
except ImportError:
    print("skipped: there is no xarray")
    sys.exit(77)


class Xarray(StoreTest):
    def test_a_run_is_a_dataset_over_time(self):
        ds = xr.open_dataset(self.store, engine="forebay", layout=LAYOUT)
        self.assertEqual({"time": 4, "z": 10, "y": 12, "x": 14}, dict(ds.Density.sizes))
        np.testing.assert_array_equal([0, 0.5, 1, 1.5], ds.time)
        np.testing.assert_array_equal(range(4), ds.step)
        near = ds.Density.sel(time=0.9, method="nearest")
        np.testing.assert_array_equal(density(2)[5], near.isel(z=5))
        np.testing.assert_array_equal([density(i)[3, 4, 5] for i in range(4)], ds.Density[:, 3, 4, 5].to_series())
        np.testing.assert_array_equal(density(3)[::-2, 1:3], ds.Density.isel(time=-1)[::-2, 1:3])
        picked = ds.Density.isel(time=[2, 0], z=[1, 5, 3])
        np.testing.assert_array_equal(np.stack([density(2)[[1, 5, 3]], density(0)[[1, 5, 3]]]), picked)

    def test_dask_reads_by_steps(self):
        ds = xr.open_dataset(self.store, engine="forebay", chunks={}, layout=LAYOUT)
        self.assertEqual((1,) * 4, ds.Density.chunks[0])
        mean = np.mean([density(i) for i in range(4)], axis=0)
        np.testing.assert_allclose(mean, ds.Density.mean("time").compute())

    def test_one_step_has_no_time(self):
        ds = xr.open_dataset(self.store, engine="forebay", step=-1, layout=LAYOUT)
        self.assertEqual(SHAPE, ds.Density.shape)
        np.testing.assert_array_equal(density(3), ds.Density)

    def test_a_store_is_recognised(self):
        self.assertIn("set", xr.open_dataset(self.store).coords)

    def test_what_it_wrote_is_netcdf(self):
        ds = xr.open_dataset(self.store, engine="forebay", layout=LAYOUT, drop_variables="time")
        ds[["Density"]].drop_vars("set").to_netcdf(self.work / "out.nc")
        with xr.open_dataset(self.work / "out.nc") as back:
            np.testing.assert_array_equal(density(1), back.Density[1])


if __name__ == "__main__":
    main()
