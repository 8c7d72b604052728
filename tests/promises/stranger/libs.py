"""The libraries to whose formats the pages refer, called through ctypes: xxHash, Zstandard, LZ4 and fpzip. (zlib is Python's.)"""

import ctypes
import zlib
from ctypes import c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p
from ctypes.util import find_library


def load(name):
    found = find_library(name)
    return ctypes.CDLL(found) if found else None


XXHASH, ZSTD, LZ4, FPZIP = (load(name) for name in ("xxhash", "zstd", "lz4", "fpzip"))


def declare(function, result, *arguments):
    function.restype, function.argtypes = result, list(arguments)


class Hash128(ctypes.Structure):
    _fields_ = [("low", c_uint64), ("high", c_uint64)]


declare(XXHASH.XXH3_64bits, c_uint64, c_char_p, c_size_t)
declare(XXHASH.XXH3_128bits, Hash128, c_char_p, c_size_t)
declare(ZSTD.ZSTD_decompress, c_size_t, c_void_p, c_size_t, c_char_p, c_size_t)
declare(ZSTD.ZSTD_isError, c_uint, c_size_t)
declare(ZSTD.ZSTD_getFrameContentSize, c_uint64, c_char_p, c_size_t)
declare(LZ4.LZ4_decompress_safe, c_int, c_char_p, c_void_p, c_int, c_int)


def hash64(data):
    return XXHASH.XXH3_64bits(data, len(data))


def hash128_hex(data):
    value = XXHASH.XXH3_128bits(data, len(data))
    return f"{value.high:016x}{value.low:016x}"


def unzstd(data):
    size = ZSTD.ZSTD_getFrameContentSize(data, len(data))
    out = ctypes.create_string_buffer(max(size, 1))
    done = ZSTD.ZSTD_decompress(out, size, data, len(data))
    if ZSTD.ZSTD_isError(done) or done != size:
        raise ValueError("not one Zstandard frame")
    return out.raw[:size]


def unlz4(data, size):
    out = ctypes.create_string_buffer(max(size, 1))
    if LZ4.LZ4_decompress_safe(data, out, len(data), size) != size:
        raise ValueError("not an LZ4 block")
    return out.raw[:size]


inflate = zlib.decompress


class Fpz(ctypes.Structure):
    _fields_ = [(name, c_int) for name in ("type", "prec", "nx", "ny", "nz", "nf")]


def unfpzip(data, element_bytes, nx, ny, nz, nf):
    """One stream, without a header, of numbers at full precision."""
    declare(FPZIP.fpzip_read_from_buffer, ctypes.POINTER(Fpz), c_char_p)
    declare(FPZIP.fpzip_read, c_size_t, ctypes.POINTER(Fpz), c_void_p)
    declare(FPZIP.fpzip_read_close, None, ctypes.POINTER(Fpz))
    size = element_bytes * nx * ny * nz * nf
    out = ctypes.create_string_buffer(size)
    padded = data + bytes(64)  # which the stream refers to
    stream = FPZIP.fpzip_read_from_buffer(padded)
    for name, value in (("type", element_bytes // 8), ("prec", 0), ("nx", nx), ("ny", ny), ("nz", nz), ("nf", nf)):
        setattr(stream.contents, name, value)
    done = FPZIP.fpzip_read(stream, out)
    FPZIP.fpzip_read_close(stream)
    if done == 0:
        raise ValueError("not an fpzip stream")
    return out.raw
