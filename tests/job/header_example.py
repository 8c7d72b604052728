#!/usr/bin/env python3
"""The program that include/forebay/forebay.h shows, as it is there, alone and under `forebay run`.

`header_example.py --extract forebay.h example.c` writes it to a file, to be compiled."""

import os
import re
import subprocess
import sys
from pathlib import Path


def extract(header, to):
    comment = Path(header).read_text().split("*/")[0]
    lines = [line for line in comment.splitlines() if re.match(r" \*(     |$)", line)]
    program = "\n".join(line[7:] for line in lines).strip("\n") + "\n"
    if "int main(" not in program:
        sys.exit(f"{header} shows no program")
    Path(to).write_text(program)


if __name__ == "__main__" and sys.argv[1:2] == ["--extract"]:
    extract(*sys.argv[2:])
    sys.exit()

from job_support import JobTest, environment, forebay, main  # noqa: E402

EXAMPLE = os.environ["HEADER_EXAMPLE"]


class Example(JobTest):
    def run_steps(self, steps):
        script = self.work / "job.sh"  # the same command each time
        script.write_text(f"exec {EXAMPLE} {steps}\n")
        done = forebay("run", "--store", self.store, "--stage", self.stage, "--backlog", "block", "--", "sh", script)
        self.assertEqual(0, done.code, done)
        return done.out

    def test_goes_on_where_it_was(self):
        clean = {name: value for name, value in environment().items() if not name.startswith("FOREBAY_")}
        alone = subprocess.run([EXAMPLE, "6"], env=clean, capture_output=True, text=True, timeout=60, check=True).stdout
        self.assertTrue(alone.startswith("6 steps: "), alone)
        self.assertNotIn("goes on", self.run_steps(3))
        self.assertEqual("goes on after step 3\n" + alone, self.run_steps(6))


if __name__ == "__main__":
    main()
