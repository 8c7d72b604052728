"""A codec of numcodecs, for arrays of Zarr v2 and whatever else takes numcodecs' codecs (docs/python.md, "Zarr")."""

from __future__ import annotations

import numpy as np
from numcodecs.abc import Codec
from numcodecs.compat import ndarray_copy
from numcodecs.registry import register_codec

from ._compress import compress, decompress


class Forebay(Codec):
    """The codec `forebay` of numcodecs: zarr.create_array(..., zarr_format=2, compressors=Forebay("max")).

    profile: `fast`, `balanced` or `max`, or any other that fb.compress() takes. It should be the only codec of an array:
    chunks that come as arrays keep their shape and dtype, which make them small. Thread-safe.
    """

    codec_id = "forebay"

    def __init__(self, profile: str = "balanced"):
        self.profile = profile

    def encode(self, buf) -> bytes:
        """The bytes of a chunk: any array that fb.compress() takes, or any other object with memory, as bytes."""
        return compress(buf if isinstance(buf, np.ndarray) else np.frombuffer(buf, np.uint8), self.profile)

    def decode(self, buf, out=None):
        """The elements of a chunk as bytes, in C order, in `out` if that is given. Raises fb.Damaged."""
        elements = decompress(buf).reshape(-1).view(np.uint8)
        return elements if out is None else ndarray_copy(elements, out)


register_codec(Forebay)
