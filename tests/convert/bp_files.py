#!/usr/bin/env python3
"""BP files of the original library go into a store and come back: bpls lists the same, an independent reader finds the same
blocks, values, bounds and attributes, and bpdump can read what was written.

Usage: bp_files.py FOREBAY ORIGINALS CACHE
ORIGINALS is what adaptable.judges.original wrote, CACHE where the original's packages are kept.
"""

import concurrent.futures
import difflib
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(SOURCE / "tests/adaptable/judges"))
try:
    import bp
    import model
    import packages
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

FOREBAY, ORIGINALS, CACHE = sys.argv[1:]
USAGE, EXISTS, UNSUPPORTED = 2, 4, 8
BOTH_CORES = 2


def run(*words):
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, errors="replace", timeout=100)
    return done.returncode, done.stdout, done.stderr


def original_tool(name):
    path = Path(packages.unpacked(CACHE), "usr/bin", name + ".mpich")
    return path if path.exists() and run(path, "-h")[0] is not None else None


def listing(path):
    """What bpls says, but for its complaints about dimensions that it cannot tell from time."""
    _, out, errors = run(original_tool("bpls"), "-la", path)
    return [line for line in (out + errors).splitlines() if not line.startswith("ERROR: ADIOS Error 2")]


def statistics(lines):
    """Which kind the file has: bpls prints four words behind an array, "null" for what is not there."""
    arrays = [line.split(" = ", 1)[1].split("/") for line in lines if "{" in line and " attr " not in line and line.count("/") >= 3]
    words = [[word.strip() for word in each[-4:]] for each in arrays]
    if any(each[2] != "null" for each in words):
        return "full"
    return "none" if words and all(each[0] == "null" for each in words) else "minmax"


def files():
    found = sorted(path for path in Path(ORIGINALS).glob("*/*.bp") if path.is_file())
    return [path for path in found if path.read_bytes()[:4] != b"\x89HDF"]


def joined(output):
    """Blocks of one rank that follow each other in the first dimension as one: packing cuts those of more than 64 MiB."""
    for blocks in output.steps:
        ordered = sorted(blocks, key=lambda block: (block.rank, block.name, block.offsets))
        blocks.clear()
        for block in ordered:
            last = blocks[-1] if blocks else None
            follows = last and block.shape and (last.rank, last.name, last.shape[1:], last.offsets[1:]) == (
                block.rank, block.name, block.shape[1:], block.offsets[1:])  # fmt: skip
            if follows and block.offsets and last.offsets[0] + last.shape[0] == block.offsets[0]:
                last.shape = (last.shape[0] + block.shape[0], *last.shape[1:])
                last.data += block.data
                last.bounds = last.bounds and (min(last.bounds[0], block.bounds[0]), max(last.bounds[1], block.bounds[1]))
            else:
                blocks.append(block)
    return output


def problems_of(path):
    """What is wrong with one file that was converted, and taken into a store and back."""
    want, problems = listing(path), []
    depth = ["--statistics", statistics(want)]
    with tempfile.TemporaryDirectory(prefix="forebay-bp-") as work:
        work = Path(work)
        direct, store, back = work / "direct.bp", work / "st", work / "back.bp"
        for words in ((path, "--to", direct, *depth), (path, "--format", "store", "--to", store),
                      ("--store", store, "--to", back, *depth)):  # fmt: skip
            code, _, errors = run(FOREBAY, "convert", *words)
            if code:
                return [f"convert {' '.join(map(str, words))}: {errors}"]
        code, _, errors = run(FOREBAY, "verify", "--store", store)
        if code:
            problems.append(f"verify: {errors}")
        for made in (direct, back):
            truth, found = bp.read(str(path)), bp.read(str(made))
            if made == back:
                truth, found = joined(truth), joined(found)
            differs = list(difflib.unified_diff(want, listing(made), "original", made.name, lineterm="", n=0))
            if differs:
                problems.append("\n".join(differs))
            problems += [f"{made.name}: {each}" for each in model.differences(truth, found)[:5]]
            code, _, errors = run(original_tool("bpdump"), made)
            if code:
                problems.append(f"bpdump {made.name}: {code} {errors}")
    return problems


class BpFiles(unittest.TestCase):
    def setUp(self):
        self.work = Path(tempfile.mkdtemp(prefix="forebay-bp-"))
        self.addCleanup(shutil.rmtree, self.work)
        self.first = next(path for path in files() if path.parent.name == "c.global-array-time.adios_globaltime")

    def convert(self, *words):
        return run(FOREBAY, "convert", *words)

    def test_every_original_comes_back(self):
        all_files = files()
        self.assertGreater(len(all_files), 40)
        with concurrent.futures.ThreadPoolExecutor(BOTH_CORES) as pool:
            for path, problems in zip(all_files, pool.map(problems_of, all_files)):
                with self.subTest(path.relative_to(ORIGINALS)):
                    self.assertEqual([], problems, "\n".join(problems))

    def test_a_set_of_a_step_is_there_once(self):
        store = self.work / "st"
        self.assertEqual(0, self.convert(self.first, "--format", "store", "--to", store, "--steps", "0:2")[0])
        code, _, errors = self.convert(self.first, "--format", "store", "--to", store)
        self.assertEqual(EXISTS, code)
        self.assertIn("adios_globaltime-000001", errors)
        self.assertEqual(0, self.convert(self.first, "--format", "store", "--to", store, "--steps", "2:")[0])
        code, _, errors = self.convert(self.first, "--format", "store", "--to", self.work / "other", "--overwrite")
        self.assertEqual(USAGE, code, errors)
        self.assertEqual(["st"], sorted(os.listdir(self.work)))

    def test_the_store_is_queried(self):
        store = self.work / "st"
        self.assertEqual(0, self.convert(self.first, "--format", "store", "--to", store)[0])
        code, out, errors = run(FOREBAY, "query", store, "temperature > 1300", "--first")
        self.assertEqual(0, code, errors)
        self.assertIn("12", out)  # the last of 13 steps is the first with values above 1300

    def test_a_box_of_blocks(self):
        target = self.work / "box.bp"
        code, _, errors = self.convert(self.first, "temperature", "--box", "1:4,2:7", "--to", target)
        self.assertEqual(0, code, errors)
        whole, part = bp.read(str(self.first)), bp.read(str(target))
        for before, after in zip(whole.steps, part.steps):
            wanted = [block for block in before if block.name == "temperature" and 1 <= block.offsets[0] < 4]
            self.assertEqual(len(wanted), len(after))
            for one, other in zip(wanted, after):
                self.assertEqual(((1, 5), (3, 5), (one.offsets[0] - 1, 0)), (other.shape, other.global_shape, other.offsets))
                self.assertEqual(one.values()[2:7].tolist(), other.values().tolist())

    def test_what_cannot_be_is_said_before_anything_is_written(self):
        for words, code, said in ((("temperature", "--stride", "2,2"), USAGE, "stride"),
                                  (("--statistics", "all"), USAGE, "none, minmax and full"),
                                  (("nothing",), 3, "nothing")):  # fmt: skip
            got, _, errors = self.convert(self.first, *words, "--to", self.work / "not.bp")
            self.assertEqual(code, got, errors)
            self.assertIn(said, errors)
        self.assertEqual([], os.listdir(self.work))


if __name__ == "__main__":
    try:
        if not original_tool("bpls"):
            raise packages.Missing("bpls does not run here")
    except packages.Missing as missing:
        print(f"skipped: {missing}")
        sys.exit(77 if not os.environ.get("CI") else 1)
    unittest.main(argv=sys.argv[:1])
