"""A codec of Zarr v3: chunks compressed by Forebay's codecs (docs/python.md, "Zarr")."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import numpy as np
from zarr.abc.codec import ArrayBytesCodec

from ._compress import compress, decompress
from ._errors import Damaged, InvalidArgument

NAME = "forebay"


def _plain(dtype: np.dtype) -> np.dtype:
    """What elements of the dtype are compressed as: themselves, numbers of as many bytes in all, or bytes."""
    if dtype.kind == "c":
        return np.dtype(f"{dtype.byteorder}f{dtype.itemsize // 2}")
    if dtype.kind == "b":
        return np.dtype("u1")
    return dtype if dtype.hasobject or (dtype.kind in "iuf" and dtype.itemsize <= 8) else np.dtype(f"V{dtype.itemsize}")


@dataclass(frozen=True)
class ForebayCodec(ArrayBytesCodec):
    """The codec `forebay` of Zarr v3: zarr.create_array(..., serializer=ForebayCodec("max"), compressors=None).

    profile: `fast`, `balanced` or `max`, or any other that fb.compress() takes. It takes chunks of every dtype with
    elements of one size, of at most 1 GiB, and needs no compressor behind it. Chunks are checked when they
    are read. Thread-safe; encodes and decodes several chunks at once.
    """

    is_fixed_size = False
    profile: str = "balanced"

    @classmethod
    def from_dict(cls, data):
        """The codec of a `codecs` entry of zarr.json. Raises InvalidArgument if it is another's."""
        if data.get("name") != NAME:
            raise InvalidArgument(f"the codec is {data.get('name')!r}, not {NAME!r}")
        return cls(**data.get("configuration", {}))

    def to_dict(self):
        """The entry of zarr.json."""
        return {"name": NAME, "configuration": {"profile": self.profile}}

    def validate(self, *, shape, dtype, chunk_grid) -> None:
        """Raises InvalidArgument for arrays of a dtype that cannot be compressed, before anything is written."""
        compress(np.empty(0, _plain(dtype.to_native_dtype())), self.profile)

    def compute_encoded_size(self, input_byte_length, _chunk_spec):
        """Not known beforehand."""
        raise NotImplementedError

    def _encode(self, array: np.ndarray) -> bytes:
        array = np.ascontiguousarray(array).reshape(array.shape or (1,))
        return compress(array.view(_plain(array.dtype)), self.profile)

    async def _encode_single(self, chunk_array, chunk_spec):
        data = await asyncio.to_thread(self._encode, chunk_array.as_numpy_array())
        return chunk_spec.prototype.buffer.from_bytes(data)

    def _decode(self, data: bytes, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
        array = decompress(data)
        if array.dtype != _plain(dtype) or array.nbytes != dtype.itemsize * int(np.prod(shape, dtype=np.int64)):
            raise Damaged(f"a chunk of {array.dtype} with the shape {array.shape}, where {shape} of {dtype} should be")
        return array.reshape(-1).view(dtype).reshape(shape)

    async def _decode_single(self, chunk_bytes, chunk_spec):
        dtype = chunk_spec.dtype.to_native_dtype()
        array = await asyncio.to_thread(self._decode, chunk_bytes.to_bytes(), dtype, chunk_spec.shape)
        return chunk_spec.prototype.nd_buffer.from_numpy_array(array)
