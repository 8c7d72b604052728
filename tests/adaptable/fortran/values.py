#!/usr/bin/env python3
"""What a Fortran program writes is what it has: texts without their padding, sections, literals, kinds and ranks.

usage: values.py PROGRAM DUMP
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

EXPECTED = {
    "text": ("string", [], "padded"),
    "literal": ("string", [], "a literal"),
    "trimmed": ("string", [], "padded too"),
    "bytes": ("byte", [4], [97, 98, 32, 32]),
    "number": ("integer", [], [5]),
    "every other": ("integer", [3], [1, 3, 5]),
    "section": ("double", [3, 2], [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]),
    "complex": ("complex", [], [[1.5, -2.0]]),
    "logical": ("byte", [2], [1, 0]),
    "deep": ("real", [3, 1, 1, 1, 1, 2], [1, 2, 3, 4, 5, 6]),
    "twice": ("integer", [3], [4, 5, 6]),
}
ATTRIBUTES = {"texts": ["one", "three"], "text": "some text", "numbers": [1, 3, 5], "real": [2.5]}
PLAIN = {"word": ("string", [], "plain"), "numbers": ("integer", [2], [7, 8]), "handed out": ("integer", [3], [1, 2, 3])}
PLAIN_ATTRIBUTES = {"numbers/limits": [7, 8], "note": "plain"}


def compare(what, got, expected):
    if got != expected:
        sys.exit(f"{what}: expected {expected}, got {got}")


def main():
    program, dump = sys.argv[1:]

    def part(path):
        done = subprocess.run([dump, path, "--values"], capture_output=True, check=True, timeout=60)
        (only,) = json.loads(done.stdout)["parts"]
        return only

    def blocks(of):
        return {block["name"]: (block["type"], block["shape"], block["values"]) for block in of["blocks"]}

    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "values.bp"
        subprocess.run([program, path], check=True, timeout=60, stderr=subprocess.DEVNULL)
        written = part(path)
        compare("values", blocks(written), EXPECTED)
        compare("attributes", {one["name"]: one["value"] for one in written["attributes"]}, ATTRIBUTES)
        written = part(f"{path}.plain")
        compare("plain calls", blocks(written), PLAIN)
        compare("attributes of plain calls", {one["name"]: one["value"] for one in written["attributes"]}, PLAIN_ATTRIBUTES)


if __name__ == "__main__":
    main()
