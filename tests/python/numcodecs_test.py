#!/usr/bin/env python3
"""numcodecs' codec: by itself, and in arrays of Zarr v2."""

import tempfile
import unittest
from pathlib import Path

from zarr_support import np, numcodecs, smooth, zarr  # first: it brings its NumPy
from support import main

import forebay as fb


class Numcodecs(unittest.TestCase):
    def codec(self, profile="balanced"):
        return numcodecs.get_codec({"id": "forebay", "profile": profile})  # found by its entry point

    def test_arrays_and_bytes_come_back(self):
        base = smooth(60, 70)
        for profile in ("fast", "balanced", "max"):
            codec = self.codec(profile)
            self.assertEqual({"id": "forebay", "profile": profile}, codec.get_config())
            for values in (base, base.astype(">f4"), base > 0, base + 1j, (base * 10).astype("i2"), base.T, np.empty((0, 3))):
                back = codec.decode(codec.encode(values))
                self.assertEqual(np.ascontiguousarray(values).tobytes(), bytes(back))
            self.assertEqual(b"some bytes", bytes(codec.decode(codec.encode(b"some bytes"))))

    def test_decodes_into_what_is_given(self):
        values, out = smooth(60, 70), np.empty((60, 70))
        self.codec().decode(self.codec().encode(values), out)
        np.testing.assert_array_equal(values, out)

    def test_a_chunk_keeps_its_shape(self):
        values = smooth(200, 300)
        self.assertLess(len(self.codec().encode(values)) * 2, len(numcodecs.Zstd(3).encode(values)))

    def test_damage_is_an_error(self):
        good = self.codec().encode(smooth(60, 70))
        for bad in (b"", b"x", good[:-1], good[:50] + bytes([good[50] ^ 1]) + good[51:]):
            self.assertRaises(fb.Error, self.codec().decode, bad)
        self.assertRaises(fb.InvalidArgument, self.codec("best").encode, smooth(2, 2))

    def test_an_array_of_zarr_v2(self):
        with tempfile.TemporaryDirectory() as work:
            values, path = smooth(90, 110).astype("f4"), Path(work) / "v2.zarr"
            array = zarr.create_array(path, shape=values.shape, dtype=values.dtype, chunks=(40, 110), zarr_format=2,
                                      compressors=self.codec("max"), filters=None)  # fmt: skip
            array[:] = values
            self.assertIn('"forebay"', (path / ".zarray").read_text())
            np.testing.assert_array_equal(values, zarr.open_array(path, mode="r")[...])


if __name__ == "__main__":
    main()
