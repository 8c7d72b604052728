"""What bench/end-to-end measures: the configurations of the mcrEngine paper (Table 5), as values."""
import re
from dataclasses import dataclass, field

from kit import workspace


@dataclass(frozen=True)
class Arm:
    name: str
    aggregates: bool = True
    compresses: bool = True  # only of those that do not aggregate
    words: tuple = ()        # of the aggregators


BASELINE = Arm("NoC+NoAgg", aggregates=False, compresses=False)
FOREBAY = Arm("Forebay")
ARMS = (BASELINE, Arm("C+NoAgg", aggregates=False),
        Arm("NoC+Agg", words=("--profile", "none")),
        Arm("Agnostic+Agg", words=("--profile", "paper", "--scheme", "agnostic")),
        Arm("Aware+Agg", words=("--profile", "paper", "--scheme", "aware")), FOREBAY)

CONTAINERS = 4  # of a set: the paper has one for 32 ranks, of thousands; here all parts of the file system are to be used


@dataclass(frozen=True)
class Case:
    name: str
    files: tuple = field(hash=False)  # one of each rank
    aggregators: int = 2

    @property
    def ranks(self):
        return len(self.files)

    @property
    def group_size(self):
        return max(1, self.ranks // CONTAINERS)


def files_of_ranks(data):
    """The files of one family, one of each rank."""
    families = {}
    for path in workspace.files_below(data.path):
        families.setdefault(re.sub(r"\d+", "#", path.name), []).append(path)
    return tuple(max(families.values(), key=len))


def cases(sets, large, aggregators):
    found = []
    for data in sets:
        files = files_of_ranks(data)
        found.append(Case(f"{data.name}, {len(files)} ranks", files, aggregators))
    if sets:
        files = files_of_ranks(max(sets, key=lambda data: data.ranks))[:16]
        found.append(Case(f"{max(sets, key=lambda data: data.ranks).name}, {len(files)} ranks", files, aggregators))
    if large:
        files = files_of_ranks(large)
        found.append(Case(f"{large.name}, {len(files)} ranks", files, aggregators))
    return found


def key_of(case, arm):
    return {"set": case.name, "ranks": case.ranks, "aggregators": case.aggregators, "arm": arm.name}
