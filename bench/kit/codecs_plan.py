"""What bench/codecs measures: profiles, chains, peers and simulated sets, as values."""
from kit import compression_plan

PROFILES = ("fast", "balanced", "max")
CHAINS = ("lorenzo,lch", "fitted,lch", "lorenzo,shuffle,zstd:1", "shuffle,zstd:1")
LIBRARIES = {"fpzip": "fpzip, true shape", "zstd:3": "zstd -3", "deflate:6": "libdeflate -6"}  # chains of one codec
PCODEC = "pcodec"
GZIP = "gzip -6"
ARMS = PROFILES + CHAINS + tuple(LIBRARIES)  # in one process, in turns
TITLES = {**{profile: f"`{profile}`" for profile in PROFILES}, **{chain: f"`{chain}`" for chain in CHAINS}, **LIBRARIES,
          PCODEC: "pcodec, level 8", GZIP: GZIP}

# Every frame with everything that the profile may choose; the smallest counts.
EXHAUSTIVE = tuple(f"best:{profile}" for profile in PROFILES)

WHOLE_PROFILES = ("paper", *PROFILES)
WHOLE_PEERS = tuple(peer for peer in compression_plan.PEERS if peer.name in ("gzip -6", "zstd -3"))

PCODEC_VERSION = "1.1.0"

# What pcodec, fpzip and gzip are given alone: numbers of these types, if a set has so many bytes of them.
PEER_TYPES = ("f4", "f8", "i4", "i8")
LEAST_CLASS_BYTES = 1_000_000

# Kinds of data that none of the real sets has: each a run of the example simulation by 27 ranks of 24^3 cells.
SIMULATED = {"sim-ghosts": ("--stirred", "--ghosts"), "sim-no-ghosts": ("--stirred",), "sim-blast": ("--ghosts",)}
SIMULATION = {"ranks": 27, "cells": 72, "steps": 40}

SCALING_BYTES = 300e6  # of the set that threads are counted on
THREADS = (1, 2)


def whole_configs(data):
    return [compression_plan.Config(data.name, profile, "auto", compression_plan.USUAL_GROUP)
            for profile in WHOLE_PROFILES]


def followers(sets):
    """Pairs of a set and the next one of the same run."""
    return [(a, b) for a, b in zip(sets, sets[1:]) if a.name.rsplit("-", 1)[0] == b.name.rsplit("-", 1)[0]
            and a.name not in SIMULATED]
