"""What bench/mpiio measures: workloads, settings and arms, as values."""
from dataclasses import dataclass, field

RANKS = (8, 16, 32, 64)
WORKLOADS = ("block", "block, larger", "flash", "tile")
TITLES = {"block": "3-D block, 100^3 integers", "block, larger": "3-D block, 256^3 integers", "flash": "FLASH I/O",
          "tile": "Tile reader"}
PAPER_TILES = 6  # the paper's wall: 3 x 2 displays

# The emulated link of one client.
LINK = {"FOREBAY_LINK_MB_S": "50", "FOREBAY_LINK_CALL_US": "5"}


@dataclass(frozen=True)
class Arm:
    name: str
    layer: bool = True   # the layer is preloaded
    atomic: bool = True  # the application asks for atomic mode
    environment: dict = field(default_factory=dict, hash=False)


def _layer(name, lock):
    return Arm(name, environment={"FOREBAY_MPIIO_LOCK": lock})


# ROMIO reads and writes back everything from a rank's first byte to its last, so that its time grows with the square of
# the number of ranks: it is measured once, and where it ends.
ROMIO_MOST_RANKS = {"local": 64, "pfs": 8, "link": 0}

NO_LOCK = _layer("no lock", "none")
LIST = _layer("list, compressed", "list")
RANGE = _layer("byte range", "range")
ROMIO_ATOMIC = Arm("ROMIO atomic", layer=False)
ARMS = (NO_LOCK, Arm("ROMIO, not atomic", layer=False, atomic=False), ROMIO_ATOMIC, _layer("whole file", "file"), RANGE,
        _layer("list", "expanded"), LIST)


@dataclass(frozen=True)
class Case:
    setting: str
    workload: str
    ranks: int

    def __str__(self):
        return f"{self.workload}, {self.ranks} ranks, {self.setting}"

    def arms(self):
        return [arm for arm in ARMS if arm.layer or self.ranks <= ROMIO_MOST_RANKS[self.setting]]

    def words(self, arm):
        """The arguments of the benchmark program, but for the file."""
        size = {"block, larger": 256, "tile": frames(self.ranks)}.get(self.workload, 0)
        repeat = 4 if arm.layer else 2
        atomic = ["--atomic"] if arm.atomic else []
        return self.workload.split(",")[0], ["--repeat", str(repeat), "--size", str(size), *atomic]


def frames(ranks):
    """The paper's 100 frames on its wall; fewer of the larger frames of larger walls."""
    return 100 if ranks == PAPER_TILES else max(10, 160 // ranks)


def ranks_of(workload, ranks):
    return (PAPER_TILES, *ranks) if workload == "tile" and tuple(ranks) == RANKS else ranks


def key_of(case, arm):
    return {"setting": case.setting, "workload": case.workload, "ranks": case.ranks, "arm": arm.name}


def rounds(settings, workloads, ranks, repeat):
    """Yields (round, case, arm): all arms of a case in turns."""
    for number in range(repeat):
        for setting in settings:
            for workload in workloads:
                for count in ranks_of(workload, ranks):
                    case = Case(setting, workload, count)
                    for arm in case.arms():
                        if arm.layer or number == 0:
                            yield number, case, arm
