#!/usr/bin/env python3
"""Checkpoints from Python under `forebay run`: a program dies, and ends as if it had not."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

import forebay as fb

FOREBAY = sys.argv.pop(1)
PROGRAM = Path(__file__).with_name("job_program.py")


class Job(unittest.TestCase):
    def test_a_program_dies_and_resumes(self):
        with tempfile.TemporaryDirectory(prefix="forebay-python-") as work:
            words = [FOREBAY, "run", "--store", f"{work}/store", "--stage", f"{work}/stage", "--relaunch", "1"]
            done = subprocess.run([*words, "--", sys.executable, "-B", PROGRAM, "4"], capture_output=True, text=True, timeout=100)
            self.assertEqual(0, done.returncode, done.stdout + done.stderr)
            self.assertIn("restarts from dump_0004", done.stdout)
            self.assertIn("ends well", done.stdout)
            run = fb.open(f"{work}/store")
            self.assertEqual([f"dump_{i:04}" for i in range(1, 7)], run.sets)
            self.assertEqual([1, 2, 3, 4, 5, 6], [step.step for step in run])
            with run[3].file("state.npy") as file:
                np.testing.assert_array_equal([10.0] * 4, np.load(file))

    def test_without_a_job(self):
        self.assertFalse(fb.in_job())
        with self.assertRaises(fb.NoJob):
            fb.checkpoint(None, "dump", step=1)
        with self.assertRaises(fb.NoJob):
            fb.restart(None)


if __name__ == "__main__":
    unittest.main()
