#!/usr/bin/python3
"""Lets ADIOS's own examples judge: each is built unchanged against the original library and against Forebay, both are
run, and what they wrote is compared value by value.

usage: judge.py --cache DIRECTORY --work DIRECTORY [--library original|mpich|openmpi] [--only REGEX] [--list] ...

--library original runs the original alone, and keeps what it wrote for the others. Returns 77, which ctest takes for
skipped, if the original can neither be found nor be downloaded, unless CI is set.
"""

import argparse
import glob
import os
import re
import shutil
import subprocess
import sys

import bp
import packages
from plan import JUDGES
from programs import Failed, Original, Runner

SKIPPED = 77
PROJECT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))


def outputs(directory):
    return sorted(path for path in glob.glob("*.bp", root_dir=directory) if os.path.isfile(os.path.join(directory, path)))


def tools(work):
    """Paths of the launchers, and of what lets many ranks of MPICH share few cores."""
    polite = os.path.join(work, "polite.so")
    os.makedirs(work, exist_ok=True)
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", os.path.join(PROJECT, "bench/locks/polite_mpi.c"), "-o", polite, "-ldl"],
                   check=True)
    return {"polite": polite, **{f"mpiexec.{mpi}": shutil.which(f"mpiexec.{mpi}") for mpi in ("mpich", "openmpi")}}


def run_original(judges, root, work):
    runner = Runner(Original(root), os.path.join(root, packages.EXAMPLES), work, tools(work))
    errors = 0
    for judge in judges:
        try:
            printed = runner.run(judge)
            files = outputs(runner.directory(judge))
            said = []
            for name in files:
                found = bp.read(os.path.join(runner.directory(judge), name))
                said.append(f"{name}: {len(found.steps)} steps, {sum(map(len, found.steps))} blocks, "
                            f"{len(found.attributes)} attributes")
            if not files:
                raise Failed("wrote nothing:\n" + printed)
            print(f"{judge.name}: {'; '.join(said)}")
        except (Failed, ValueError, OSError, KeyError) as error:
            errors += 1
            print(f"{judge.name}: {type(error).__name__}: {error}")
    return errors


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--cache", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--library", default="original")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    try:
        root = packages.unpacked(os.path.abspath(options.cache))
    except packages.Missing as error:
        print(f"skipped: {error}")
        return 1 if os.environ.get("CI") else SKIPPED
    judges = [judge for judge in JUDGES if re.search(options.only, judge.name)]
    return 1 if run_original(judges, root, os.path.join(os.path.abspath(options.work), options.library)) else 0


if __name__ == "__main__":
    sys.exit(main())
