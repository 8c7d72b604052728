"""Zarr 3 and numcodecs, from packages of their own; without them a test is skipped."""

import sys
from pathlib import Path

PACKAGES = Path(__file__).resolve().parents[2] / "build/zarr-packages"
sys.path.insert(0, str(PACKAGES))  # a NumPy that this Zarr takes, too

try:
    import numcodecs
    import numpy as np
    import zarr

    assert int(zarr.__version__.split(".")[0]) >= 3
except (ImportError, AssertionError):
    print("skipped: there is no Zarr 3")
    sys.exit(77)

__all__ = ["np", "numcodecs", "smooth", "zarr"]


def smooth(*shape):
    return np.add.outer(np.sin(np.arange(shape[0]) / 40), np.cos(np.arange(shape[1]) / 50)) * 100
