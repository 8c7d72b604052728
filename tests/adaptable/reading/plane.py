"""Fortran programs that were written for ADIOS 1.13 read a plane on one and on five ranks, and ask queries: of a file that
four ranks wrote through adios.h, and of a store.

Usage: plane.py BUILD_DIRECTORY
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv[1])
HERE = pathlib.Path(__file__).resolve().parent
HEADERS = ["-I", str(HERE.parents[2] / "include" / "adios"), "-I", str(BUILD / "include" / "adios")]
LIBRARIES = BUILD / "lib" / "adios" / "mpich"
LINK = ["-L", str(LIBRARIES), f"-Wl,-rpath,{LIBRARIES}", "-ladiosf", "-ladios"]


def run(directory, *words):
    done = subprocess.run([str(word) for word in words], cwd=directory, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


class Plane(unittest.TestCase):
    def test_plane_of_what_was_written_in_either_way(self):
        with tempfile.TemporaryDirectory(prefix="forebay-plane-") as directory:
            run(directory, "mpicc.mpich", HERE / "rows.c", *HEADERS, *LINK, "-o", "rows")
            run(directory, "mpif90.mpich", HERE / "plane.f90", *HEADERS, *LINK, "-o", "plane")
            run(directory, "mpif90.mpich", HERE / "hits.f90", *HEADERS, *LINK, "-o", "hits")
            run(directory, "mpiexec.mpich", "-n", 4, "./rows", "MPI", "", "file.fb")
            run(directory, "mpiexec.mpich", "-n", 4, "./rows", "FOREBAY", "store=store", "run.fb")
            middle = sum(range(23 * 50, 24 * 50))  # of the 46 rows of the first step
            for what in ("file.fb", "store"):
                for ranks in (1, 5):
                    said = run(directory, "mpiexec.mpich", "-n", ranks, "./plane", what, "temperature")
                    self.assertEqual(said.split(), ["temperature", "2", f"{middle:.8f}"], f"{what}, {ranks} ranks")
                # Element 101, in the first rank's block, is the second one of the third row.
                self.assertEqual(run(directory, "./hits", what, "temperature").split(), "100 1 1 2 50 46 T".split(), what)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
