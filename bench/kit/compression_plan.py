"""What bench/compression measures: configurations of the command and of its peers, as values."""
from dataclasses import asdict, dataclass

SCHEMES = ("agnostic", "agnostic-block", "aware", "aware-block", "auto")
GROUP_SIZES = (1, 2, 8, 32, 64)
USUAL_GROUP = 64  # the command's default
USUAL_BLOCK = 64 << 10
PAPER_BLOCK = 4 << 10  # what the paper takes for its Enzo checkpoints (Figs. 7 and 9)
BLOCK_SIZES = tuple(1 << shift for shift in range(10, 19))

# By scheme, what mcrEngine compresses with (section 6.1): gzip for whole files, first pass and gzip for variables.
PAPER_PROFILE = {"agnostic": "gzip", "agnostic-block": "gzip", "aware": "paper", "aware-block": "paper"}

# Section 6.1, Fig. 6: the first pass alone and with gzip behind it. Integers have no first pass here.
SINGLE_AND_DOUBLE = {
    "agnostic": ("deflate:6", "deflate:6,deflate:6"),
    "aware": ("fpc:2,fpzip1d", "fpc:2,fpzip1d,deflate:6"),
    "aware-block": ("fpc:2,fpzip1d", "fpc:2,fpzip1d,deflate:6"),
}


@dataclass(frozen=True)
class Config:
    set: str
    profile: str
    scheme: str
    group: int
    block: int = USUAL_BLOCK

    def key(self):
        return {"arm": "forebay", **asdict(self)}

    def words(self):
        return ["--profile", self.profile, "--scheme", self.scheme, "--group-size", str(self.group), "--block-size",
                str(self.block)]


@dataclass(frozen=True)
class Peer:
    """A peer's commands over one file `{raw}` or the files below `{dir}`."""
    name: str
    program: str
    compress: str
    decompress: str
    needs: str = "file"  # or "files"
    is_slow: bool = False  # a few MB/s: measured once, and not in a quick run


def _repack(filters):
    # Files that are not HDF5 are left out: they count as they are.
    return (f'cd {{dir}}; for f in *.cpu[0-9]* *.h5; do [ -f "$f" ] && h5repack {filters} "$f" {{out}}/"$f"; done; '
            "true")


PEERS = (
    Peer("gzip -6", "gzip", "gzip -6 -c {raw} > {out}", "gzip -dc {out} > {back}"),
    Peer("pigz -6", "pigz", "pigz -6 -c {raw} > {out}", "pigz -dc {out} > {back}"),
    Peer("zstd -3", "zstd", "zstd -q -3 --single-thread -c {raw} > {out}", "zstd -q -dc {out} > {back}"),
    Peer("zstd -T0 -3", "zstd", "zstd -q -T0 -3 -c {raw} > {out}", "zstd -q -dc {out} > {back}"),
    Peer("zstd -19", "zstd", "zstd -q -19 --single-thread -c {raw} > {out}", "zstd -q -dc {out} > {back}",
         is_slow=True),
    Peer("h5repack GZIP=6", "h5repack", _repack("-f GZIP=6"), "", "files"),
    Peer("h5repack SHUF GZIP=6", "h5repack", _repack("-f SHUF -f GZIP=6"), "", "files"),
)


def peers(number, quick):
    """Those to measure in round `number`."""
    return [peer for peer in PEERS if not peer.is_slow or (number == 0 and not quick)]


def group_sizes(data):
    return [size for size in GROUP_SIZES if size <= data.ranks] or [1]


def usual_group(data):
    return max(size for size in group_sizes(data) if size <= USUAL_GROUP)


def matrix(data):
    """Schemes x profiles x group sizes, the most telling first."""
    sizes = sorted(group_sizes(data), key=lambda size: (size != usual_group(data), size))
    configs = []
    for group in sizes:
        for profile in ("fast", "balanced", "gzip", "paper"):
            configs += [Config(data.name, profile, scheme, group) for scheme in reversed(SCHEMES)]
        configs += [Config(data.name, profile, scheme, group) for profile in ("none", "max")
                    for scheme in ("aware", "auto")]
    return configs


def single_and_double(data):
    return [Config(data.name, chain, scheme, usual_group(data), PAPER_BLOCK)
            for scheme, chains in SINGLE_AND_DOUBLE.items() for chain in chains]


def blocks(data):
    kinds = (("gzip", "agnostic-block"), ("paper", "aware-block"), ("balanced", "aware-block"))
    return [Config(data.name, profile, scheme, usual_group(data), block)
            for profile, scheme in kinds for block in BLOCK_SIZES]


def rounds(sets, repeat, quick):
    """Yields (round, set, configurations): what was measured in fewer rounds than that is to be measured now. A run cut
    short so has each figure once before any figure twice, and the arms of one figure are measured in turns. What has no
    speed to tell is in the first round only."""
    for number in range(repeat):
        for data in sets:
            if quick:
                configs = [Config(data.name, profile, "auto", usual_group(data))
                           for profile in ("none", "fast", "balanced", "gzip", "paper")]
            else:
                configs = matrix(data)
                if number == 0:
                    configs += single_and_double(data) + blocks(data)
                else:
                    configs = [config for config in configs if config.group == usual_group(data)]
            yield number, data, configs
