#!/usr/bin/python3
"""Compares what `forebay config generate` writes with the includes that ADIOS's examples ship, statement by statement.

usage: includes.py FOREBAY CACHE. Returns 77, which ctest takes for skipped, if the examples can neither be found nor be
downloaded, unless CI is set.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import packages

# Whose examples have a group of another name by now, or were changed by hand.
STALE = {"C/stat/gwrite_stat.ch", "C/stat/gread_stat.ch", "C/transforms/gread_temperature.ch"}
LEAST = 21


def statements(text):
    """Without blanks, continuation lines and the line that says who made it; Fortran's sizes may be of 8 bytes."""
    text = re.sub(r"^(/\*|!) Made by 'forebay config generate'.*\n", "", text)
    joined = re.sub(r"&\n\s*|\\\n", "", text)
    return [re.sub(r"\s+|_8\b", "", line) for line in re.split(r";|\n", joined) if line.strip()]


def generated(command, directory, name, *options):
    with tempfile.TemporaryDirectory() as out:
        for config in directory.glob("*.xml"):
            subprocess.run([command, "config", "generate", config, "-o", out, *options], capture_output=True, timeout=60)
        path = Path(out) / name
        return statements(path.read_text()) if path.exists() else None


def main():
    command, cache = sys.argv[1:]
    try:
        examples = Path(packages.unpacked(os.path.abspath(cache))) / packages.EXAMPLES
    except packages.Missing as error:
        print(f"skipped: {error}")
        return 1 if os.environ.get("CI") else 77
    same, different = 0, []
    for path in sorted(examples.glob("*/*/g*_*.[cf]h")):
        shipped = statements(path.read_text())
        ours = [generated(command, path.parent, path.name), generated(command, path.parent, path.name, "--old-reads")]
        name = str(path.relative_to(examples))
        if shipped in ours:
            same += 1
        elif name not in STALE:
            different.append(name)
            print(f"{name}: expected {shipped}, got {ours}")
    print(f"{same} includes are the same")
    return 1 if different or same < LEAST else 0


if __name__ == "__main__":
    sys.exit(main())
