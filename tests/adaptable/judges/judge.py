#!/usr/bin/python3
"""Lets ADIOS's own examples judge: each is built unchanged against the original library and against Forebay, both are
run, and what they wrote is compared value by value.

usage: judge.py original|mpich|openmpi --cache DIRECTORY --work DIRECTORY --build DIRECTORY [--only REGEX]
       judge.py --list

original runs the original alone, and keeps what it wrote for the others. mpich and openmpi build against Forebay and
compare. --build is Forebay's build tree, --cache where the original's packages are kept. Returns 77, which ctest takes for skipped, if the original can neither be found nor
be downloaded, unless CI is set.
"""

import argparse
import concurrent.futures
import glob
import itertools
import os
import re
import shutil
import subprocess
import sys

import bp
import forebay_file
import hdf5_file
import model
import packages
from plan import ELSEWHERE, JUDGES
from programs import SOURCE, Failed, Forebay, Original, Runner

SKIPPED = 77
BOTH_CORES = 2


def outputs(directory):
    return sorted(path for path in glob.glob("*.bp", root_dir=directory) if os.path.isfile(os.path.join(directory, path)))


def tools(work, build):
    """Paths of the launchers, of what lets many ranks of MPICH share few cores, and of the command."""
    polite = os.path.join(work, "polite.so")
    os.makedirs(work, exist_ok=True)
    if not os.path.exists(polite):
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", os.path.join(SOURCE, "bench/locks/polite_mpi.c"), "-o", polite, "-ldl"],
                       check=True)
    return {"polite": polite, "forebay": os.path.join(build, "bin/forebay"), **{f"mpiexec.{mpi}": shutil.which(f"mpiexec.{mpi}") for mpi in ("mpich", "openmpi")}}


def judge_original(runner, judge):
    """Problems of one judge: the original has to write something that can be read and agrees with itself."""
    said = runner.run(judge)
    directory, problems = runner.directory(judge), []
    with open(os.path.join(directory, "said"), "w", encoding="utf-8") as file:
        file.write(said)
    files = outputs(directory)
    if not files:
        problems.append("the original wrote nothing:\n" + said)
    for name in files if judge.method != "PHDF5" else ():
        for blocks in bp.read(os.path.join(directory, name)).steps:
            for block in blocks:
                if block.bounds and block.bounds not in (model.true_bounds(block), model.finite_bounds(block)):
                    problems.append(f"{name}: {block.text()} has other bounds than its values")
    return problems


def told(judge, said):
    """The lines of a reader that are compared, in whatever order its ranks printed them."""
    lines = [" ".join(line.replace("\0", "").split()) for line in said.splitlines()
             if line.startswith(judge.told) and not re.search(judge.untold, line)]
    return lines if judge.ranks == 1 and judge.in_order else sorted(lines)


def judge_forebay(runner, judge, original, dump):
    said = runner.run(judge)
    directory, theirs = runner.directory(judge), os.path.join(original, judge.name)
    problems = []
    if outputs(theirs) != outputs(directory):
        return [f"expected the files {outputs(theirs)}, found {outputs(directory)}; it said:\n{said}"]
    for name in outputs(theirs):
        if judge.method == "PHDF5":
            problems += hdf5_file.differences(os.path.join(theirs, name), os.path.join(directory, name))
            continue
        found = forebay_file.read(os.path.join(directory, name), dump)
        problems += [f"{name}: {text}" for text in model.differences(bp.read(os.path.join(theirs, name)), found)]
    if judge.after:  # it reads: what it prints is what it read
        with open(os.path.join(theirs, "said"), encoding="utf-8") as file:
            expected = told(judge, file.read())
        problems += [f"it says {mine!r} where the original says {other!r}"
                     for mine, other in itertools.zip_longest(told(judge, said), expected) if mine != other]
    if not problems and not any(other.after == judge.name for other in JUDGES):
        shutil.rmtree(directory)
    return problems


def run_one(function, judge, *arguments):
    try:
        return function(*arguments)
    except (Failed, ValueError, OSError, KeyError, subprocess.SubprocessError) as error:
        return [f"{type(error).__name__}: {error}"]


def run_all(judges, function):
    """Runs all judges, those that need another's output last; prints what they say. Returns how many complain."""
    complaints = 0
    for wave in ([j for j in judges if not j.after], [j for j in judges if j.after]):
        with concurrent.futures.ThreadPoolExecutor(BOTH_CORES) as pool:
            for judge, problems in zip(wave, pool.map(function, wave)):
                print(f"{judge.name}: {'FAILED' if problems else 'ok'}", flush=True)
                for problem in problems[:5]:
                    print(f"    {problem}")
                complaints += bool(problems)
    print(f"{len(judges) - complaints} of {len(judges)} judges are content")
    return complaints


def print_list():
    for judge in JUDGES:
        print(f"{judge.name}: {judge.ranks} ranks" + (f", method {judge.method}" if judge.method else ""))
    for source, reason in ELSEWHERE.items():
        print(f"not here: {source}: {reason}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("library", choices=("original", "mpich", "openmpi"), nargs="?")
    parser.add_argument("--cache")
    parser.add_argument("--work")
    parser.add_argument("--build")
    parser.add_argument("--only", default="")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    if options.list:
        return print_list()
    try:
        root = packages.unpacked(os.path.abspath(options.cache))
    except packages.Missing as error:
        print(f"skipped: {error}")
        return 1 if os.environ.get("CI") else SKIPPED
    work, build = os.path.abspath(options.work), os.path.abspath(options.build)
    judges = [judge for judge in JUDGES if re.search(options.only, judge.name)]
    if options.library == "original":
        library = Original(root)
    else:
        library = Forebay(build, options.library)
        judges = [judge for judge in judges if os.path.isdir(os.path.join(work, "original", judge.name))]
    runner = Runner(library, os.path.join(root, packages.EXAMPLES), os.path.join(work, options.library), tools(work, build))
    if options.library == "original":
        return 1 if run_all(judges, lambda judge: run_one(judge_original, judge, runner, judge)) else 0
    dump = os.path.join(build, "bin/adaptable_dump")
    original = os.path.join(work, "original")
    return 1 if run_all(judges, lambda judge: run_one(judge_forebay, judge, runner, judge, original, dump)) else 0


if __name__ == "__main__":
    sys.exit(main())
