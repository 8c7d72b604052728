"""What bench/adaptable-io measures: workloads and arms, as values."""
from dataclasses import dataclass

RANKS = (8, 16, 32, 64)
TITLES = {"gts": "GTS-like: 5 variables of 20 MB", "chimera": "Chimera-like: 1,000 variables of 80 KB",
          "xgc": "XGC-like: 50 appended steps of 50 variables of 20 KB",
          "xgc200": "XGC-like: 200 appended steps of 50 variables of 20 KB", "s3d": "S3D-like: 16 boxes of 1 MB in global arrays"}
WORKLOADS = tuple(TITLES)
SIZES = {"gts": (20_000_000, 1), "chimera": (80_000, 1), "xgc": (20_000, 50), "xgc200": (20_000, 200),
         "s3d": (1_000_000, 1)}  # bytes, steps
PROGRAMS = {"xgc200": "xgc"}  # workloads that the program knows by another name
MOST_BYTES = {"xgc200": 4_000_000_000}  # of all ranks together, in one file: larger numbers of ranks write less each
MOST_BYTES_ELSE = 1_000_000_000
RUN_PART, RUN_STEPS, RUN_SECONDS = 4, 8, 1.0  # of the whole run: its outputs are so much smaller, how many there are, and
# seconds of computing before each


@dataclass(frozen=True)
class Arm:
    library: str  # forebay, adios or hdf5; "none" writes nothing
    method: str
    parameters: str = ""

    @property
    def name(self):
        return {"forebay": "Forebay ", "adios": "ADIOS 1.13 ", "hdf5": "parallel HDF5", "none": "no output"}[self.library] + (
            self.method if self.library in ("forebay", "adios") else "")


_SYNCHRONOUS = ("MPI", "POSIX", "MPI_AGGREGATE")
_PARAMETERS = {"MPI_AGGREGATE": "num_aggregators=2;num_ost=2"}
FOREBAY = {m: Arm("forebay", m, _PARAMETERS.get(m, "")) for m in (*_SYNCHRONOUS, "FOREBAY", "PHDF5")}
ADIOS = {m: Arm("adios", m, _PARAMETERS.get(m, "")) for m in _SYNCHRONOUS}
HDF5 = Arm("hdf5", "collective")
NONE = Arm("none", "none")
RUN_ARMS = (NONE, FOREBAY["MPI"], FOREBAY["POSIX"], FOREBAY["FOREBAY"], ADIOS["MPI"])
ARMS = (*FOREBAY.values(), *ADIOS.values(), HDF5)

# Seconds from open to close, over those of write(): what is to be reached with 5, 1,000 and 200 x 50 variables.
TARGETS = {"gts": {"POSIX": 1.15, "MPI": 1.2, "MPI_AGGREGATE": 1.5}, "chimera": {"POSIX": 1.3, "MPI": 1.4, "MPI_AGGREGATE": 1.8},
           "xgc": {"POSIX": 3, "MPI": 3, "MPI_AGGREGATE": 3}, "xgc200": {"POSIX": 3, "MPI": 3, "MPI_AGGREGATE": 3}, "s3d": {}}
BLOCKED = 0.2  # of the asynchronous method, over the time of MPI


@dataclass(frozen=True)
class Case:
    place: str
    workload: str
    ranks: int
    size: int  # bytes of one variable of one rank
    steps: int
    compute: float = 0  # seconds before each output; 0: outputs alone are measured

    @property
    def repeat(self):
        """How often a program writes its file; once if in many steps (a second time, the original's POSIX ends itself)."""
        return 1 if self.steps > 1 else 4

    def __str__(self):
        return f"{self.workload}, {self.ranks} ranks, {self.place}" + (", whole run" if self.compute else "")

    def arms(self):
        return RUN_ARMS if self.compute else ARMS

    def parameters(self, arm):
        """What a synchronous method of Forebay is told beside its own: on the place `durable`, to wait for the disk."""
        is_durable = self.place == "durable" and arm.library == "forebay" and arm.method in _SYNCHRONOUS
        return ";".join(filter(None, (arm.parameters, "sync=1" if is_durable else "")))


def _case(place, workload, ranks, part):
    size, steps = SIZES[workload]
    variables = {"gts": 5, "chimera": 1000, "xgc": 50, "xgc200": 50, "s3d": 16}[workload]
    most = MOST_BYTES.get(workload, MOST_BYTES_ELSE) // (ranks * variables * steps)
    return Case(place, workload, ranks, max(8000, min(int(size * part), most)), max(2, int(steps * part)) if steps > 1 else 1)


def cases(places, workloads, ranks, part, only_whole_runs=False, seconds=RUN_SECONDS):
    for place in places:
        for workload in () if only_whole_runs else workloads:
            for count in ranks:
                yield _case(place, workload, count, part)
        if "gts" in workloads:
            whole = _case(place, "gts", min(ranks), part)
            yield Case(place, "gts", whole.ranks, max(8000, whole.size // RUN_PART), RUN_STEPS, seconds * max(part, 0.1))


def key_of(case, arm):
    return {**vars(case), "library": arm.library, "method": arm.method}


def rounds(all_cases, libraries, wanted, repeat):
    """Yields (round, case, arm): all arms of a case in turns."""
    all_cases = list(all_cases)
    for number in range(repeat):
        for case in all_cases:
            for arm in case.arms():
                is_wanted = not wanted or any(word.lower() in arm.name.lower() for word in wanted)
                if is_wanted and (arm.library in libraries or arm.library == "none"):
                    yield number, case, arm
