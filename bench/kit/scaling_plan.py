"""What bench/scaling measures: one case for each thing that grows, as values."""
from dataclasses import dataclass

NODE_RANKS = 8       # ranks of a node; and of a container, unless said otherwise
RANK_VARIABLES = 10  # small files: of a rank, in the case "ranks"
STORE_RANKS, STORE_GROUP = 24, 2  # twelve containers, which one to four aggregators share evenly
STORE_VARIABLES = 900
WHOLE = 9000         # variables of a file in the case "variables", joined to fewer and larger ones of the same bytes
WHOLE_GROUP = 64     # ranks in a container, with them: the default
TRANSPORTS = ("node", "stream")  # a file that the aggregator reads; a connection, as between nodes


@dataclass(frozen=True)
class Load:
    """A set of files, one of each rank."""
    ranks: int
    variables: int  # of a file, in datasets of `join` each
    join: int = 1

    @property
    def name(self):
        return f"{self.ranks}-{self.variables}-{self.join}"

    @property
    def datasets(self):
        return self.variables // self.join


@dataclass(frozen=True)
class Case:
    kind: str  # aggregators, ranks, or variables
    load: Load
    nodes: int = 1
    aggregators: int = 1
    sets: int = 1       # drained one after the other
    limit: float = 0    # MB/s of the store, for each aggregator; 0: none
    memory: int = 1024  # MiB, of each aggregator
    group: int = NODE_RANKS
    transport: str = "auto"

    def __str__(self):
        limit = f", {self.limit:g} MB/s each" if self.limit else ""
        return (f"{self.kind}: {self.load.ranks} ranks of {self.load.datasets} variables, {self.aggregators} "
                f"aggregator{'s' if self.aggregators > 1 else ''}{limit}, transport {self.transport}")

    @property
    def key(self):
        return {"kind": self.kind, "ranks": self.load.ranks, "datasets": self.load.datasets, "variables": self.load.variables,
                "nodes": self.nodes, "aggregators": self.aggregators, "sets": self.sets, "limit": self.limit,
                "memory": self.memory, "group": self.group, "transport": self.transport}


def aggregator_cases(counts, limit):
    load = Load(STORE_RANKS, STORE_VARIABLES)
    return [Case("aggregators", load, nodes=STORE_RANKS // NODE_RANKS, aggregators=count, limit=rate, group=STORE_GROUP)
            for rate in (limit, 0) for count in counts]


def rank_cases(counts):
    return [Case("ranks", Load(ranks, RANK_VARIABLES), nodes=max(1, ranks // NODE_RANKS), sets=3) for ranks in counts]


def variable_cases(counts, ranks, memory):
    loads = [Load(ranks, WHOLE, WHOLE // count) for count in counts]
    return [Case("variables", load, memory=memory, group=WHOLE_GROUP, transport=transport) for load in loads for transport in TRANSPORTS]


def control_key(ranks):
    return {"kind": "control", "ranks": ranks}
