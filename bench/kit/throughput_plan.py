"""What bench/throughput measures: the arms, as values."""
from dataclasses import dataclass

MEMORY = "128M"
MEMORY_BYTES = 128 << 20


@dataclass(frozen=True)
class Arm:
    """Commands over a set `{dir}`, its stored form `{out}` and the directory that it comes back to, `{back}`."""
    name: str
    pack: str
    verify: str
    restore: str
    programs: tuple = ()
    places: tuple = ("tmpfs", "disk")
    synced: bool = True  # durable when the command returns, as far as the place is
    only_large: bool = False
    is_forebay: bool = False


def _forebay(name, options, common="", launcher="", **more):
    return Arm(name, f"{launcher}{{forebay}} pack {{dir}} --store {{out}} --name set {common} {options}",
               f"{{forebay}} verify {{out}} set {common}",
               f"{{forebay}} restore set --store {{out}} --to {{back}} {common}", is_forebay=True, **more)


def _tar(name, program, coder, decoder, synced):
    sync_out = " && sync {out} $(dirname {out})" if synced else ""
    sync_back = " && find {back} -print0 | xargs -0 sync" if synced else ""
    return Arm(name + (" + fsync" if synced else ""), f"tar -C {{dir}} -cf - . | {coder} > {{out}}" + sync_out,
               f"{program} -q -t {{out}}", f"mkdir {{back}} && {decoder} {{out}} | tar -C {{back}} -xf -" + sync_back,
               programs=("tar", program), places=("disk",) if synced else ("tmpfs", "disk"), synced=synced)


def _peer(name, program, coder, decoder):
    return [_tar(name, program, coder, decoder, synced) for synced in (False, True)]


ARMS = (
    _forebay("forebay fast", "--profile fast"),
    _forebay("forebay balanced", "--profile balanced"),
    *_peer("tar \\| zstd -T0 -3", "zstd", "zstd -q -T0 -3 -c", "zstd -q -dc"),
    *_peer("tar \\| pigz", "pigz", "pigz -c", "pigz -dc"),
    *(_forebay(f"forebay {profile}, 1 thread", f"--profile {profile}", "--threads 1", places=("tmpfs",),
               only_large=True) for profile in ("fast", "balanced")),
    *(_forebay(f"forebay {profile}, {MEMORY}", f"--profile {profile}", f"--memory {MEMORY}", places=("tmpfs",),
               only_large=True) for profile in ("fast", "balanced", "max")),
    _forebay("mpiexec -n 2 forebay balanced, 1 thread", "--profile balanced --threads 1",
             launcher="mpiexec.mpich -n 2 ", programs=("mpiexec.mpich",), places=("tmpfs",), only_large=True),
)

# Slow by intent, and measured for its memory: once is enough.
ONCE = (f"forebay max, {MEMORY}",)


def arms(place, is_large):
    return [arm for arm in ARMS if place in arm.places and (is_large or not arm.only_large)]
