#!/usr/bin/python3
"""Makes the small files from which the format readers' fuzz targets start (tests/fuzz/{hdf5,netcdf,npy,...}_fuzz).

Run it from anywhere; it rewrites the files in place. It needs Debian's python3-h5py, python3-netcdf4 and python3-numpy.
"""
import json
import pathlib
import struct

import h5py
import netCDF4
import numpy as np

HERE = pathlib.Path(__file__).parent
DATA = np.arange(24, dtype="<f4")


def place(target, name):
    (HERE / target).mkdir(exist_ok=True)
    return HERE / target / name


def leb128(value):
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes([value])


def stream(raw):
    """A stream of the text codec that is stored as it is."""
    return b"\0" + leb128(len(raw)) + leb128(len(raw)) + raw


def text():
    """Encoded forms with stored streams (docs/codecs.md, "text"), and texts to encode."""
    rows = 80
    for name, formats, choices in (
        ("integers", [(0, 0, 1)] * 2, [0, 2 << 1, 2 << 1]),
        ("fixed", [(0, 0, 1), (1, 3, 2)], [8, 3 << 1, 5 << 1]),
        ("values", [(2, 5, 1), (4, 6, 1)], [7, 1 << 1 | 1, 4 << 1 | 1]),
        ("fraction", [(3, 4, 1), (4, 3, 1)], [0, 0, 1 << 1]),
    ):
        columns = b"".join(
            bytes([notation | 1 << 4, digits, 14]) + (leb128(9) if notation >= 2 else b"") for notation, digits, _ in formats)
        template = leb128(len(formats)) + leb128(0) * len(formats) + leb128(1) + b";"
        size = rows * (14 * len(formats) + 2)
        heads = leb128(2 * size + 4) + leb128(2 * rows + 2) + leb128(1) + template + columns
        run = bytes([1]) * rows
        codes = run + b"\0" + run + b"\0"
        after = [choices[0]] + [(7 if name != "values" else 6) << 1 | (c & 1) for c in choices[1:]]
        made = stream(heads) + stream(codes) + stream(bytes(choices + after)) + stream(b"x\ny\n")
        made += b"".join(stream(bytes((i * 7 + j) % 5 for i in range(2 * rows))) for j in range(len(formats)))
        place("text_fuzz", name).write_bytes(struct.pack("<H", 2 * size + 4) + made)
    lines = "".join(f"{i} {i * 0.25:.6g} ({i * 1e-7:.3e} {i % 7:4d})\n" for i in range(120))
    place("text_fuzz", "lines").write_bytes(struct.pack("<H", 0) + lines.encode() + lines.encode())
    fields = "".join(f"C{i % 3} {0.5 + i:9.3f}{i * i:<6d} {'nan' if i == 50 else i}\n" for i in range(100))
    place("text_fuzz", "fields").write_bytes(struct.pack("<H", 900) + fields.encode() + b"end")


def hdf5():
    with h5py.File(place("hdf5_fuzz", "old"), "w", libver="earliest") as f:
        g = f.create_group("Grid00000001")
        g["Density"] = DATA.reshape(4, 6)
        g["x"] = np.arange(5, dtype=">f8")
        g["flag"] = np.array([True, False])
        f["scalar"] = 3
        f["text"] = np.bytes_(b"abc")
        f.create_dataset("chunks", data=DATA, chunks=(10,))
        f["soft"] = h5py.SoftLink("/scalar")
    with h5py.File(place("hdf5_fuzz", "latest"), "w", libver="latest") as f:
        f["Grid00000001/Density"] = DATA
        f["half"] = np.arange(5, dtype="<f2")
        f.create_dataset("fixed", data=DATA, chunks=(5,))
        f.create_dataset("fixed gzip", data=DATA, chunks=(5,), compression="gzip")
        f.create_dataset("single", data=DATA, chunks=(24,))
        f.create_dataset("growing", data=DATA, chunks=(1,), maxshape=(None,))
        f.create_dataset("two", data=DATA.reshape(4, 6), chunks=(2, 3), maxshape=(None, None))
        f["type"] = np.dtype("<i4")
        f.create_dataset("committed", data=np.arange(3), dtype=f["type"])
    with h5py.File(place("hdf5_fuzz", "gzip"), "w", libver="latest") as f:
        f.create_dataset("growing", data=DATA, chunks=(9,), maxshape=(None,), compression="gzip")
        f.create_dataset("two", data=DATA.reshape(4, 6), chunks=(2, 3), maxshape=(None, None), compression="gzip")
    with h5py.File(place("hdf5_fuzz", "dense"), "w", libver="latest", userblock_size=512) as f:
        for i in range(12):
            f["variable %d" % i] = i
    with h5py.File(place("hdf5_fuzz", "one"), "w", libver="latest") as f:
        f["a/b"] = 1


def filters():
    """Chunks as h5py stored them, each behind the description of its filters."""
    def message(pipeline):
        body = struct.pack("<BB6x", 1, len(pipeline))
        for number, values in pipeline:
            body += struct.pack(f"<HHHH{len(values)}I", number, 0, 0, len(values), *values) + bytes(len(values) % 2 * 4)
        return body

    wishes = {"deflate": dict(compression="gzip", shuffle=True, fletcher32=True), "lzf": dict(compression="lzf"),
              "scaleoffset": dict(scaleoffset=2), "szip": dict(compression="szip")}
    path = HERE / "chunks.h5"
    for name, wish in wishes.items():
        with h5py.File(path, "w") as f:
            d = f.create_dataset("x", data=np.cumsum(DATA).reshape(4, 6), chunks=(4, 6), **wish)
            plist = d.id.get_create_plist()
            pipeline = [plist.get_filter(i)[::2] for i in range(plist.get_nfilters())]
            mask, chunk = d.id.read_direct_chunk((0, 0))
            save_chunk(name, message(pipeline), mask, DATA.nbytes, chunk)
    path.unlink()
    for number in (5, 307, 32001, 32004, 32008, 32015):
        values = {5: (8, 0, 24, 1, 4, 0, 12, 3), 32008: (0, 4, 4, 8, 2)}.get(number, (1, 1, 4))
        save_chunk(f"filter_{number}", message([(number, values)]), 0, DATA.nbytes, bytes(range(120)))


def save_chunk(name, message, mask, raw, chunk):
    data = struct.pack("<H", len(message)) + message + struct.pack("<II", mask, raw)[:7] + bytes(chunk)
    place("hdf5_filter_fuzz", name).write_bytes(data)


def netcdf():
    for name, kind in (("cdf1", "NETCDF3_CLASSIC"), ("cdf2", "NETCDF3_64BIT_OFFSET"), ("cdf5", "NETCDF3_64BIT_DATA")):
        f = netCDF4.Dataset(place("netcdf_fuzz", name), "w", format=kind)
        f.title = "a title"
        f.createDimension("t", None)
        f.createDimension("x", 3)
        f.createDimension("y", 5)
        f.createVariable("field", "f8", ("x", "y"))[:] = np.arange(15).reshape(3, 5)
        f.createVariable("name", "S1", ("y",))[:] = np.array(list(b"abcde"), dtype="u1").view("S1")
        f.createVariable("time", "f8", ("t",))[:] = np.arange(4)
        f.createVariable("small", "i2", ("t", "x"))[:] = np.arange(12).reshape(4, 3)
        f.createVariable("scalar", "i4", ())[:] = 7
        if kind == "NETCDF3_64BIT_DATA":
            f.createVariable("wide", "u8", ("x",))[:] = np.arange(3)
        f.variables["field"].units = "m"
        f.close()
    f = netCDF4.Dataset(place("netcdf_fuzz", "lone_record"), "w", format="NETCDF3_CLASSIC")
    f.createDimension("t", None)
    f.createDimension("x", 3)
    f.createVariable("odd", "i1", ("t", "x"))[:] = np.arange(15).reshape(5, 3)
    f.close()


def numpy():
    save = lambda name, array: np.save(open(place("npy_fuzz", name), "wb"), array)
    save("f8", np.arange(60, dtype="<f8").reshape(3, 20))
    save("fortran", np.asfortranarray(np.arange(6, dtype=">i2").reshape(2, 3)))
    save("structured", np.zeros(4, dtype=[("a", "<f4"), ("b", "S3")]))
    save("objects", np.array([None, 1], dtype=object))
    save("text", np.array(["ab", "cde"]))
    np.savez(open(place("npy_fuzz", "npz"), "wb"), a=DATA, b=np.arange(3), c=np.float64(1))
    np.savez_compressed(open(place("npy_fuzz", "npz_deflated"), "wb"), a=DATA)


def safetensors():
    tensors = {"__metadata__": {"format": "pt"}, "model.weight": ("F32", [2, 3], 24), "model.bias": ("BF16", [3], 6),
               "steps": ("I64", [64], 512)}
    header, at = {}, 0
    for name, tensor in tensors.items():
        if name == "__metadata__":
            header[name] = tensor
            continue
        dtype, shape, size = tensor
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    place("safetensors_fuzz", "three").write_bytes(struct.pack("<Q", len(text)) + text + bytes(at))
    place("safetensors_fuzz", "empty").write_bytes(struct.pack("<Q", 2) + b"{}")


RAW = {
    "variables": '[[file]]\nmatch = "dump.*"\n[[file.variable]]\nname = "time"\ntype = "f8"\noffset = 16\n'
                 '[[file.variable]]\nname = "rho"\ntype = ">f4"\noffset = 24\nshape = [4, 5]\n',
    "repeat": '[[file]]\n[[file.variable]]\nname = "p"\ntype = "u2"\nshape = [3]\nrepeat = {count = 4, stride = 9}\n',
    "group": '[[file]]\nmatch = "*"\n[[file.group]]\nname = "step"\noffset = 8\nrepeat = {stride = 40}\n'
             '[[file.group.variable]]\nname = "a"\ntype = "f8"\nshape = [2]\n'
             '[[file.group.variable]]\nname = "b"\ntype = "x3"\noffset = 20\n',
    "wrong": '[[file]]\n[[file.variable]]\nname = 3\n',
}


def raw():
    for name, text in RAW.items():
        place("raw_fuzz", name).write_text(text)


def records():
    """Files of codes that have a format of their own, as small as they come."""
    rng = np.random.default_rng(1)

    def record(data, order="<"):
        return struct.pack(order + "I", len(data)) + data + struct.pack(order + "I", len(data))

    def normal(kind, count):
        return rng.normal(size=count).astype(kind).tobytes()

    def trr_frame(step, with_v):
        sizes = [0, 0, 36, 0, 0, 0, 0, 12 * 8, 12 * 8 * with_v, 0, 8, step, 0]
        head = struct.pack(">III12s13i", 1993, 13, 12, b"GMX_trn_file", *sizes) + struct.pack(">ff", 0.1 * step, 0)
        x = np.arange(24, dtype=">f4") + step
        return head + np.eye(3, dtype=">f4").tobytes() + x.tobytes() + x.tobytes() * with_v

    def foam(kind, name):
        return (b"/* made by a test */\nFoamFile\n{\n    version 2.0;\n    format      binary;\n    class %s;\n"
                b"    arch \"LSB;label=32;scalar=64\";\n    object %s;\n}\n// * //\n" % (kind, name))

    save = lambda name, *parts: place("records_fuzz", name).write_bytes(b"".join(parts))
    save("trr", *(trr_frame(step, step % 2 == 0) for step in range(4)))
    save("fortran", record(np.arange(11, dtype="<i4").tobytes()), record(normal("<f8", 80)),
         record(np.arange(0, 900, 3, dtype="<i4").tobytes()), *(record(normal("<f4", 100)) for _ in range(3)))
    save("big_endian", record(normal(">f8", 64), ">"), record(b"end", ">"))
    head = b"CORD" + struct.pack("<20i", 2, 0, 1, *[0] * 7, 1, *[0] * 8, 24)
    frames = [part for _ in range(2) for part in (record(np.ones(6).tobytes()), *(record(normal("<f4", 64)) for _ in range(3)))]
    save("dcd", record(head), record(struct.pack("<i80s", 1, b"made by a test")), record(struct.pack("<i", 64)), *frames)
    magic = b"LammpS RestartT\0"
    atoms = [np.concatenate([[11.0], rng.normal(size=10)]).astype("<f8").tobytes() for _ in range(9)]
    chunks = [struct.pack("<ii", 47, 11 * len(part)) + b"".join(part) for part in (atoms[:5], atoms[5:])]
    save("lammps", magic, struct.pack("<iiii", 1, 2, 0, 12), b"29 Sep 2021\0", bytes(40), *chunks, magic)
    fab = b"FAB ((8, (64 11 52 0 1 12 0 1023)),(8, (8 7 6 5 4 3 2 1)))((%s) (%s) (0,0,0)) 2\n"
    save("fab", fab % (b"0,0,0", b"3,2,1"), normal("<f8", 48), fab % (b"-1,0,0", b"0,1,0"), normal("<f8", 8))
    save("openfoam_field", foam(b"volVectorField", b"U"),
         b"dimensions      [0 1 -1 0 0 0 0];\ninternalField   nonuniform List<vector> \n4\n(", normal("<f8", 12),
         b");\nboundaryField\n{\n    wall { type fixedValue; groups 1(wall); value uniform (1 0 0); }\n    out\n    {\n"
         b"        type zeroGradient;\n        value nonuniform List<vector> \n2\n(", normal("<f8", 6),
         b");\n        none nonuniform List<scalar> 0();\n    }\n}\n")
    save("openfoam_faces", foam(b"faceCompactList", b"faces"), b"\n5\n(", np.arange(0, 20, 4, dtype="<i4").tobytes(),
         b")\n16\n(", np.arange(16, dtype="<i4").tobytes(), b")\n\n// * //\n")


for make in (hdf5, filters, netcdf, numpy, safetensors, raw, records, text):
    make()
