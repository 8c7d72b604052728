#!/usr/bin/python3
"""Checks that the method VAR_MERGE, named in the XML file alone, joins the blocks of ranks, and changes no value.

usage: merge.py PROGRAM MPIEXEC FOREBAY DUMP
"""

import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM, MPIEXEC, FOREBAY, DUMP = (os.path.abspath(path) for path in sys.argv[1:5])
XML = """<adios-config host-language="C">
  <adios-group name="run">
    <var name="rows" type="integer"/> <var name="columns" type="integer"/>
    <var name="all_rows" type="integer"/> <var name="all_columns" type="integer"/>
    <var name="row" type="integer"/> <var name="column" type="integer"/> <var name="entries" type="integer"/>
    <global-bounds dimensions="all_rows,all_columns" offsets="row,column">
      <var name="field" type="double" dimensions="rows,columns"/>
      <var name="cells" type="integer" dimensions="rows,columns"/>
      <var name="packed" type="real" dimensions="rows,columns" transform="zlib:5"/>
    </global-bounds>
    <global-bounds dimensions="JoinedDim" offsets="0">
      <var name="list" type="double" dimensions="entries"/>
    </global-bounds>
    <var name="own" type="integer" dimensions="3"/>
    <var name="title" type="string"/>
    <attribute name="units" path="/field" value="K" type="string"/>
  </adios-group>
  <method group="run" method="%s">%s</method>
  %s
</adios-config>
"""
ROWS, COLUMNS = 150, 120


class Merge(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="forebay-merge-")
        self.addCleanup(shutil.rmtree, self.directory)

    def run_it(self, *command):
        done = subprocess.run(command, cwd=self.directory, capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def write(self, method, parameters="", more="", steps=2, grid=(2, 2)):
        """The blocks of each array that the reading interface tells of the first step, and in `self.arrays` the bytes
        of each step of each global array that `forebay read` gives."""
        with open(os.path.join(self.directory, "config.xml"), "w", encoding="ascii") as file:
            file.write(XML % (method, parameters, more))
        ranks = str(grid[0] * grid[1])
        said = self.run_it(MPIEXEC, "-n", ranks, PROGRAM, "config.xml", "out.bp", str(steps), *map(str, grid))
        self.assertNotIn("wrong", said)
        blocks = collections.defaultdict(list)
        for line in said.splitlines():
            name, step, rest = line.split(" ", 2)
            blocks[name, step].append(rest)
        for name, step in blocks:
            self.assertEqual(len(blocks[name, step]), len(blocks[name, "1:"]))
        self.arrays = {}
        for name in ("field", "cells", "packed", "list"):
            self.run_it(FOREBAY, "read", "out.bp", name, "--step", f"0:{steps}", "--to", "out.npy", "--overwrite")
            with open(os.path.join(self.directory, "out.npy"), "rb") as file:
                self.arrays[name] = file.read()
        return {name: found for (name, step), found in blocks.items() if step == "1:"}

    def characteristics(self):
        dump = json.loads(self.run_it(DUMP, "out.bp"))
        return {variable["name"]: variable["steps"] for variable in dump["variables"]}

    def test_quarters_come_back_as_one_block_with_the_same_bits(self):
        apart = self.write("MPI")
        self.assertEqual({name: len(found) for name, found in apart.items()},
                         {"field": 4, "cells": 4, "packed": 4, "list": 4, "own": 4})
        arrays, known = self.arrays, self.characteristics()
        for parameters in ("io_method=MPI", "io_method=POSIX", "", "io_method=MPI_AGGREGATE;io_parameters=num_aggregators=2"):
            with self.subTest(parameters):
                joined = self.write("VAR_MERGE", parameters)
                self.assertEqual(joined["field"], [f" 0+{2 * ROWS} 0+{2 * COLUMNS} of rank 0".strip()])
                self.assertEqual(joined["cells"], joined["field"])
                self.assertEqual(joined["list"], ["0+10 of rank 0"])
                self.assertEqual((joined["packed"], joined["own"]), (apart["packed"], apart["own"]))
                self.assertEqual(self.arrays, arrays)
                for name, steps in self.characteristics().items():
                    for step, before in zip(steps, known[name], strict=True):
                        for fact in ("count", "min", "max", "nans", "infinities"):
                            self.assertEqual(step[fact], before[fact], name)
                        self.assertAlmostEqual(step["sum"], before["sum"], delta=abs(before["sum"]) * 1e-12)
                lines = self.run_it(FOREBAY, "read", "out.bp", "field", "--blocks").splitlines()
                self.assertEqual(sum(f"{2 * ROWS}" in line for line in lines[1:]), 1, lines)

    def test_ranks_and_chunk_size_say_what_joins(self):
        self.assertEqual(self.write("VAR_MERGE", "io_method=MPI;ranks=2")["field"],
                         [f"0+{ROWS} 0+{2 * COLUMNS} of rank 0", f"{ROWS}+{ROWS} 0+{2 * COLUMNS} of rank 2"])
        blocks = self.write("VAR_MERGE", "io_method=MPI;chunk_size=100k")
        self.assertEqual((len(blocks["field"]), len(blocks["cells"])), (4, 1))
        # Ranks 0 to 3 are a row of three and one more.
        self.assertEqual(self.write("VAR_MERGE", "io_method=MPI;ranks=4", grid=(2, 3))["field"],
                         [f"0+{ROWS} 0+{3 * COLUMNS} of rank 0", f"{ROWS}+{ROWS} 0+{COLUMNS} of rank 3",
                          f"{ROWS}+{ROWS} {COLUMNS}+{2 * COLUMNS} of rank 4"])

    def test_what_the_limit_of_the_buffer_has_no_room_for_stays(self):
        self.write("MPI")
        arrays = self.arrays
        blocks = self.write("VAR_MERGE", "io_method=MPI", '<buffer max-size-MB="1"/>')
        self.assertEqual((len(blocks["field"]), len(blocks["cells"])), (4, 1))
        self.assertEqual(self.arrays, arrays)

    def test_steps_that_are_kept_join_when_they_are_written(self):
        self.write("MPI", steps=3)
        arrays = self.arrays
        kept = '<time-aggregation group="run" buffer-size="10000000"/>'
        blocks = self.write("VAR_MERGE", "io_method=MPI", kept, steps=3)
        self.assertEqual((len(blocks["field"]), len(blocks["own"])), (1, 4))
        self.assertEqual(self.arrays, arrays)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
