#!/usr/bin/python3
"""Checks the method FOREBAY with a program that writes through adios.h: alone, in a job, and killed.

usage: store.py PROGRAM MPIEXEC FOREBAY DUMP
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM, MPIEXEC, FOREBAY, DUMP = sys.argv[1:5]
RANKS = 3
XML = """<adios-config host-language="C">
  <adios-group name="restart">
    <var name="rows" type="integer"/> <var name="columns" type="integer"/>
    <var name="all_rows" type="integer"/> <var name="first_row" type="integer"/>
    <global-bounds dimensions="all_rows,columns" offsets="first_row,0">
      <var name="field" type="double" dimensions="rows,columns"/>
    </global-bounds>
    <attribute name="units" path="/field" value="K" type="string"/>
  </adios-group>
  <method group="restart" method="FOREBAY">%s</method>
</adios-config>
"""


class Store(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="forebay-store-")
        self.addCleanup(shutil.rmtree, self.directory)
        self.parameters = f"stage={self.directory};profile=fast"

    def run_it(self, *command):
        return subprocess.run(command, cwd=self.directory, capture_output=True, text=True, timeout=120, check=False)

    def program(self, first, last, *more, rows=200, within=()):
        with open(os.path.join(self.directory, "config.xml"), "w") as file:
            file.write(XML % self.parameters)
        return self.run_it(*within, MPIEXEC, "-n", str(RANKS), PROGRAM, "config.xml", str(first), str(last), str(rows), *more)

    def check_sets(self, store, steps, rows=200):
        listed = json.loads(self.run_it(FOREBAY, "ls", store, "--json").stdout)
        names = {listed_set["name"] for listed_set in listed["sets"]}
        self.assertEqual({name.split("-")[0] for name in names}, {f"restart.{step}" for step in steps})
        for name in names:
            variables = json.loads(self.run_it(FOREBAY, "ls", name, "--store", store, "--variables", "--json").stdout)
            paths = {variable["name"] for file in variables["files"] for variable in file["variables"]}
            self.assertEqual(paths, {"/rows", "/columns", "/all_rows", "/first_row", "/field"})
            step = int(name.split("-")[0].split(".")[1])
            done = self.run_it(FOREBAY, "restore", name, "--store", store, "--to", name)
            self.assertEqual(done.returncode, 0, done.stderr)
            for rank in range(RANKS):
                self.check_group(os.path.join(name, f"rank{rank:06}.pg"), step, rank, rows)

    def check_group(self, path, step, rank, rows):
        dump = json.loads(self.run_it(DUMP, path, "--values").stdout)
        self.assertEqual([len(part.get("attributes", [])) for part in dump["parts"]], [1] + [0] * (len(dump["parts"]) - 1))
        blocks = {block["name"]: block for part in dump["parts"] for block in part["blocks"]}
        field = blocks["field"]
        self.assertEqual(field["shape"], [rows, 50])
        self.assertEqual(field["global_shape"], [RANKS * rows, 50])
        self.assertEqual(field["offsets"], [rows * rank, 0])
        self.assertEqual(field["values"], [1e7 * step + rank * rows * 50 + i for i in range(rows * 50)])

    def test_a_thread_packs_while_the_program_goes_on(self):
        done = self.program(1, 3)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.check_sets("restart.store", [1, 2, 3])

    def test_a_job_drains_what_the_program_stages(self):
        stage = os.path.join(self.directory, "stage")
        done = self.program(1, 3, within=(FOREBAY, "run", "--store", "store", "--stage", stage, "--"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_sets("store", [1, 2, 3])

    # Blocks of so many rows are staged before the close.
    def test_a_thread_packs_large_blocks(self):
        done = self.program(1, 2, rows=12000)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.check_sets("restart.store", [1, 2], rows=12000)

    def test_a_job_drains_large_blocks_of_files_that_are_open_at_once(self):
        stage = os.path.join(self.directory, "stage")
        done = self.program(1, 2, "two", rows=12000, within=(FOREBAY, "run", "--store", "store", "--stage", stage, "--"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_sets("store", [1, 2], rows=12000)

    def test_the_next_run_stores_what_a_killed_one_had_closed(self):
        self.assertNotEqual(self.program(1, 3, "kill").returncode, 0)
        done = self.program(4, 4)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.check_sets("restart.store", [1, 2, 3, 4])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
