"""Ways to read a part of an array that many ranks wrote: Forebay's C interface, and its peers. Each class makes its files from
the same arrays, and answers read(step, box) with the values."""

import ctypes
import subprocess

import h5py
import numpy

try:
    import zarr
except ImportError:
    zarr = None
try:
    import adios2
except ImportError:
    adios2 = None

NAME = "Density"


def field(side, seed):
    """A smooth field with all scales down to the cell, as of a turbulent gas."""
    random = numpy.random.default_rng(seed)
    spectrum = numpy.fft.rfftn(random.standard_normal((side,) * 3))
    k = numpy.fft.fftfreq(side) * side
    k2 = k[:, None, None] ** 2 + k[None, :, None] ** 2 + (numpy.fft.rfftfreq(side) * side) ** 2
    k2[0, 0, 0] = 1
    values = numpy.fft.irfftn(spectrum * k2 ** -1.4, s=(side,) * 3, axes=(0, 1, 2))
    return numpy.exp(values / values.std())


def blocks(shape, parts):
    """The box of each rank: (begin, count), in the order of ranks."""
    count = [n // p for n, p in zip(shape, parts)]
    for part in numpy.ndindex(*parts):
        yield [i * n for i, n in zip(part, count)], count


def shares(box, shape, parts):
    """Of a box (begin, count) what each rank has: rank, slices in its block, slices in the box."""
    for rank, (begin, count) in enumerate(blocks(shape, parts)):
        low = [max(a, b) for a, b in zip(begin, box[0])]
        high = [min(a + n, b + m) for a, n, b, m in zip(begin, count, *box)]
        if all(a < b for a, b in zip(low, high)):
            yield (rank, tuple(slice(a - o, b - o) for a, b, o in zip(low, high, begin)),
                   tuple(slice(a - o, b - o) for a, b, o in zip(low, high, box[0])))


class PerRank:
    """One HDF5 file for each rank, as programs write them; with `options` for the datasets. The reader knows which rank has
    what."""

    def __init__(self, directory, shape, parts, **options):
        self.directory, self.shape, self.parts, self.options = directory, shape, parts, options

    def write(self, step, values):
        target = self.directory / f"DD{step:04}"
        target.mkdir(parents=True)
        x, y, z = self.shape[::-1]
        (target / "D").write_text(f"InitialTime = {step}\nTopGridRank = 3\nTopGridDimensions = {x} {y} {z}\nRefineBy = 2\n"
                                  f"DomainLeftEdge = 0 0 0\nDomainRightEdge = {x} {y} {z}\n")
        ranks, hierarchy = int(numpy.prod(self.parts)), ""
        for rank, (begin, count) in enumerate(blocks(self.shape, self.parts)):
            with h5py.File(target / f"D.cpu{rank:04}", "w") as out:
                own = values[tuple(slice(b, b + n) for b, n in zip(begin, count))]
                out.create_dataset(f"Grid{rank + 1:08}/{NAME}", data=own, **self.options)
                out.create_dataset(f"Grid{rank + 1:08}/Energy", data=own * 1.5 + 1, **self.options)
            hierarchy += (
                f"\nGrid = {rank + 1}\nGridRank = 3\nGridDimension = {' '.join(str(n + 6) for n in count[::-1])}\n"
                f"GridStartIndex = 3 3 3\nGridEndIndex = {' '.join(str(n + 2) for n in count[::-1])}\n"
                f"GridLeftEdge = {' '.join(map(str, begin[::-1]))}\nBaryonFileName = ./D.cpu{rank:04}\n"
                f"Pointer: Grid[{rank + 1}]->NextGridThisLevel = {(rank + 2) % (ranks + 1)}\n"
                f"Pointer: Grid[{rank + 1}]->NextGridNextLevel = 0\n")
        (target / "D.hierarchy").write_text(hierarchy)

    def open(self):
        pass

    def read(self, step, box):
        out = numpy.empty(box[1])
        for rank, source, target in shares(box, self.shape, self.parts):
            with h5py.File(self.directory / f"DD{step:04}" / f"D.cpu{rank:04}", "r") as file:
                out[target] = file[f"Grid{rank + 1:08}/{NAME}"][source]
        return out

    def close(self):
        pass


class Zarr:
    """One Zarr array with zstd for each step, in chunks of 32 a side."""

    def __init__(self, directory, shape, parts):
        self.directory, self.shape = directory, shape

    def write(self, step, values):
        side = min(32, min(self.shape))
        array = zarr.create_array(str(self.directory / f"{step}.zarr"), shape=self.shape, chunks=(side,) * 3, dtype="f8",
                                  compressors=zarr.codecs.ZstdCodec(level=1))
        array[...] = values

    def open(self):
        pass

    def read(self, step, box):
        array = zarr.open_array(str(self.directory / f"{step}.zarr"), mode="r")
        return array[tuple(slice(b, b + n) for b, n in zip(*box))]

    def close(self):
        pass


class Bp5:
    """ADIOS2: one BP5 file with all steps, a block for each rank."""

    def __init__(self, directory, shape, parts):
        self.path, self.shape, self.parts = str(directory / "run.bp"), shape, parts
        directory.mkdir(parents=True, exist_ok=True)

    def write(self, step, values):
        with adios2.Stream(self.path, "a" if step else "w") as stream:
            for _ in stream.steps(1):
                for begin, count in blocks(self.shape, self.parts):
                    own = numpy.ascontiguousarray(values[tuple(slice(b, b + n) for b, n in zip(begin, count))])
                    stream.write(NAME, own, list(self.shape), begin, count)

    def open(self):
        self.file = adios2.FileReader(self.path)

    def read(self, step, box):
        return self.file.read(NAME, start=list(box[0]), count=list(box[1]), step_selection=[step, 1]).reshape(box[1])

    def close(self):
        self.file.close()


class Forebay:
    """A packed store through libforebay_read."""

    def __init__(self, binaries, store, threads=0):
        self.binaries, self.store, self.threads = binaries, store, threads

    def pack(self, directory, profile):
        for dump in sorted(directory.glob("DD*")):
            subprocess.run([self.binaries / "bin/forebay", "pack", dump, "--store", self.store, "--profile", profile],
                           check=True, stdout=subprocess.DEVNULL)

    def open(self):
        self.library = ctypes.CDLL(str(self.binaries / "lib/libforebay_read.so"))
        self.library.forebay_message.restype = ctypes.c_char_p
        self.library.forebay_read_plan_box.argtypes = (
            [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t] + [ctypes.c_void_p] * 4 + [ctypes.c_size_t])
        self.library.forebay_read_open_step.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p]
        for name in ("find", "perform", "plan_free", "close_step", "close", "inquire_cost"):
            getattr(self.library, f"forebay_read_{name}").argtypes = [ctypes.c_void_p] * {"find": 3, "inquire_cost": 2}.get(name, 1)
        self.run = ctypes.c_void_p()
        options = (ctypes.c_uint64 * 3)(24, 2 << 30, self.threads)  # the first members of forebay_read_options
        self.check(self.library.forebay_read_open(str(self.store).encode(), ctypes.byref(options), ctypes.byref(self.run)))
        self.cost = ()  # forebay_read_cost of the last read

    def check(self, code):
        if code != 0:
            raise RuntimeError(self.library.forebay_message().decode())

    def read(self, step, box):
        opened, plan, number = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t()
        out = numpy.empty(box[1])
        begin, count = ((ctypes.c_uint64 * len(part))(*part) for part in box)
        self.check(self.library.forebay_read_open_step(self.run, step, ctypes.byref(opened)))
        self.check(self.library.forebay_read_find(opened, NAME.encode(), ctypes.byref(number)))
        self.check(self.library.forebay_read_plan_new(ctypes.byref(plan)))
        self.check(self.library.forebay_read_plan_box(plan, opened, number, len(box[0]), begin, count, None,
                                                      out.ctypes.data_as(ctypes.c_void_p), out.nbytes))
        self.check(self.library.forebay_read_perform(plan))
        cost = ctypes.POINTER(ctypes.c_uint64 * 4)()
        self.check(self.library.forebay_read_inquire_cost(plan, ctypes.byref(cost)))
        self.cost = tuple(cost.contents)
        self.library.forebay_read_plan_free(plan)
        self.library.forebay_read_close_step(opened)
        return out

    def close(self):
        self.library.forebay_read_close(self.run)
