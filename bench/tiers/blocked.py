#!/usr/bin/env python3
"""How long the ranks of a program that uses SCR's interface are blocked by a checkpoint, beside the time that writing it to memory takes,
on emulated nodes (network namespaces) of a rank each: the medians for each scheme, also if the program waits until the set is protected (FOREBAY_SCR_WAIT=1).

Usage: blocked.py FOREBAY BLOCKED MPIEXEC [--nodes 4] [--mb 60] [--sets 7] [--pause 2000] [--wrap WORDS]; BLOCKED is blocked.c, built with -lscr.
"""

import argparse
import os
import re
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/scr"))

from scr_nodes import Cluster  # noqa: E402

SCHEMES = {"SINGLE": {}, "PARTNER": {}, "XOR": {"SCR_SET_SIZE": 8}, "RS": {"SCR_SET_SIZE": 8, "SCR_SET_FAILURES": 2}}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("forebay")
    parser.add_argument("program")
    parser.add_argument("mpiexec")
    parser.add_argument("--wrap", default="", help="words before the program, as 'env LD_PRELOAD=...'")
    for name, value in (("--nodes", 4), ("--mb", 60), ("--sets", 7), ("--pause", 2000)):
        parser.add_argument(name, type=int, default=value)
    given = parser.parse_args()
    os.environ["MPIEXEC"] = given.mpiexec
    print(f"{given.nodes} nodes of a rank, {given.mb} MiB each")
    print("| scheme | write, s | blocked, s | blocked : write | blocked if it waits for the protection, s |\n|---|---|---|---|---|")
    for scheme in SCHEMES:
        write, blocked = measure(given, scheme, 0)
        _, waiting = measure(given, scheme, 1)
        print(f"| {scheme} | {write:.3f} | {blocked:.4f} | {blocked / write:.3f} | {waiting:.3f} |", flush=True)


def measure(given, scheme, waits):
    """The medians of the sets: writing, and being blocked."""
    with Cluster(Path(given.forebay).resolve(), given.nodes, spares=0, SCR_FLUSH=0, SCR_COPY_TYPE=scheme, FOREBAY_SCR_WAIT=waits,
                 **SCHEMES[scheme]) as cluster:  # fmt: skip
        cluster.wrap = given.wrap.split()
        cluster.start(Path(given.program).resolve(), given.sets, given.mb, given.pause)
        cluster.wait_for_end(seconds=180)
        found = re.findall(r"set \d+ write ([\d.]+) blocked ([\d.]+)", cluster.run.text())[1:]  # the first one takes new pages
        return [statistics.median(map(float, one)) for one in zip(*found, strict=True)]


if __name__ == "__main__":
    main()
