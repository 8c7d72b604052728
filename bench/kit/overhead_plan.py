"""What bench/overhead measures: cases and arms, as values."""
import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Arm:
    name: str
    forebay: bool = False  # through agent and aggregator
    remote: bool = False   # the aggregator is another node
    durable: bool = False  # the application waits for the store


NO_DRAIN = Arm("no drain")
DIRECT = Arm("direct")
COPY = Arm("copy")
OTHER_WORK = Arm("other work")
BLOCKING = Arm("blocking", forebay=True, durable=True)
SAME_NODE = Arm("same node", forebay=True)
OTHER_NODE = Arm("other node", forebay=True, remote=True)
ARMS = (NO_DRAIN, OTHER_WORK, DIRECT, COPY, BLOCKING, SAME_NODE, OTHER_NODE)


@dataclass(frozen=True)
class Case:
    name: str
    rank_cores: tuple      # one rank on each; agent and copies are on any of them
    transfer_cores: tuple  # of the aggregator


def cases():
    """Of this machine. The last core is the transfer node's."""
    cores = tuple(sorted(os.sched_getaffinity(0)))
    own = [Case("own cores", cores[:-1], cores[-1:])] if len(cores) > 1 else []
    return [*own, Case("all cores", cores, cores)]


@dataclass(frozen=True)
class Load:
    seconds: float  # of work in each interval
    intervals: int
    megabytes: int  # of each rank's checkpoint


def calibration_key(case, load):
    return {"calibration": case.name, "seconds": load.seconds}


def key_of(case, arm, load):
    return {"case": case.name, "ranks": len(case.rank_cores), "arm": arm.name, "seconds": load.seconds,
            "intervals": load.intervals, "megabytes": load.megabytes}


def rounds(cases_, arms, repeat):
    """Yields (round, case, arm): all arms of a case in turns."""
    for number in range(repeat):
        for case in cases_:
            for arm in arms:
                yield number, case, arm
