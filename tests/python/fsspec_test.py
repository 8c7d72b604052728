#!/usr/bin/env python3
"""fsspec's protocol: listing, reading, and what is not there."""

import sys

import numpy as np
from support import StoreTest, main, particles

try:
    import fsspec
except ImportError:
    print("skipped: there is no fsspec")
    sys.exit(77)


class Fsspec(StoreTest):
    def url(self, *parts):
        return "forebay://" + "/".join([str(self.store), *parts])

    def test_original_files_by_url(self):
        import h5py

        with fsspec.open(self.url("dump_0001", "state.0003.h5")) as raw, h5py.File(raw, "r") as file:
            np.testing.assert_array_equal(particles(1, 3), file["id"][:])

    def test_sets_and_files_are_listed(self):
        files, path = fsspec.core.url_to_fs(self.url())
        self.assertEqual([f"{path}/dump_{i:04}" for i in range(4)], files.ls(path, detail=False))
        inside = files.ls(f"{path}/dump_0002")
        self.assertEqual(8, len(inside))
        size = (self.work / "run/dump_0002/state.0000.h5").stat().st_size
        self.assertEqual({"name": f"{path}/dump_0002/state.0000.h5", "type": "file", "size": size}, inside[0])
        self.assertEqual(inside[0], files.info(inside[0]["name"]))
        self.assertEqual(32, len(files.glob(f"{path}/*/*.h5")))
        self.assertTrue(files.isdir(f"{path}/dump_0002"))
        self.assertFalse(files.exists(f"{path}/dump_0009"))
        self.assertFalse(files.exists(f"{path}/dump_0002/nothing"))
        files.get(f"{path}/dump_0003/state.0001.h5", str(self.work / "copy"))
        self.assertEqual((self.work / "run/dump_0003/state.0001.h5").read_bytes(), (self.work / "copy").read_bytes())

    def test_what_is_not_there(self):
        for url in (self.url("dump_0009", "a"), self.url("dump_0001", "a"), f"forebay://{self.work}/nowhere/x"):
            with self.assertRaises(FileNotFoundError):
                fsspec.open(url).open()
        with self.assertRaises(NotImplementedError):
            fsspec.open(self.url("dump_0001", "new"), "wb").open()


if __name__ == "__main__":
    main()
