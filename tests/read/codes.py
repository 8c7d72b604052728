#!/usr/bin/env python3
"""Arrays in files that codes wrote (OpenFOAM, GROMACS, LAMMPS, Quantum ESPRESSO, gfortran), compared with what is read here.

Usage: codes.py FOREBAY. The files of codes are those of $FOREBAY_DATA, else of ../shared/data.
"""

import filecmp
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

try:
    import numpy
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

SOURCE = Path(__file__).resolve().parent.parent.parent
ARCHIVE = Path(os.environ.get("FOREBAY_DATA", SOURCE.parent / "shared/data")) / "real_codes.tar.zst"
FOREBAY = sys.argv[1]

PROGRAM = """program writes
  real(8) :: a(30, 20)
  real(4) :: b(333)
  integer :: i, k(500)
  a = reshape([(sin(0.01d0 * i) * i, i = 1, 600)], [30, 20])
  b = [(cos(0.1 * i), i = 1, 333)]
  k = [(mod(i * i, 977), i = 1, 500)]
  open (10, file='little.unf', form='unformatted')
  write (10) 30, 20
  write (10) a
  write (10) b
  write (10) k
  close (10)
  open (10, file='big.unf', form='unformatted', convert='big_endian')
  do i = 1, 4
    write (10) a + i
    write (10) b * i
  end do
  close (10)
end program
"""


class Trees(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = Path(tempfile.mkdtemp(prefix="forebay-codes-"))
        cls.addClassCleanup(shutil.rmtree, cls.work)

    def run_ok(self, *words):
        done = subprocess.run([FOREBAY, *map(str, words)], capture_output=True, text=True, timeout=120)
        self.assertEqual(0, done.returncode, done.stderr)
        return done.stdout

    def pack(self, tree):
        """The store of the tree alone, which is restored as it was."""
        store, back = self.work / f"store-{tree.name}", self.work / f"back-{tree.name}"
        if not store.exists():
            self.run_ok("pack", tree, "--store", store, "--name", "a")
            self.run_ok("restore", "a", "--store", store, "--to", back)
            for file in (one for one in tree.rglob("*") if one.is_file()):
                self.assertTrue(filecmp.cmp(file, back / file.relative_to(tree), shallow=False), file)
        return store

    def array(self, tree, name, block=None):
        out = self.work / "out.npy"
        out.unlink(missing_ok=True)
        which = [] if block is None else ["--block", block]
        self.run_ok("read", "--store", self.pack(tree), name, *which, "--to", out)
        return numpy.load(out)


@unittest.skipUnless(ARCHIVE.exists(), "there are no files of codes in $FOREBAY_DATA or ../shared/data")
class FilesOfCodes(Trees):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        subprocess.run(["tar", "-I", "zstd", "-xf", ARCHIVE, "-C", cls.work], check=True, timeout=120)
        cls.codes = cls.work / "real_codes"

    def test_openfoam_has_the_cells_of_all_processors(self):
        tree = self.work / "foam"
        wanted = []
        for processor in (self.codes / "of_bin/processor0", self.codes / "of_bin/processor1"):
            shutil.copytree(processor / "0.2", tree / processor.name / "0.2")
            text = (processor / "0.2/U").read_bytes()
            at = text.index(b"nonuniform List<vector>")
            at = text.index(b"\n", at) + 1
            count, text = text[at:].split(b"\n(", 1)
            wanted.append(numpy.frombuffer(text, "<f8", 3 * int(count)).reshape(-1, 3))
        numpy.testing.assert_array_equal(numpy.concatenate(wanted), self.array(tree, "U"))
        self.assertIn("time 0.2", self.run_ok("read", "--store", self.pack(tree)))

    def test_gromacs_has_all_frames(self):
        tree = self.work / "gmx"
        tree.mkdir()
        shutil.copy(self.codes / "gmx/md.trr", tree)
        text, at, frames = (tree / "md.trr").read_bytes(), 0, []
        while at < len(text):
            sizes = struct.unpack_from(">10i", text, at + 24)
            self.assertEqual((1993, 0, 0), (struct.unpack_from(">i", text, at)[0], sizes[9], sizes[3]))
            start = at + 24 + 13 * 4 + 8 + sizes[2]
            frames.append(numpy.frombuffer(text, ">f4", sizes[7] // 4, start).reshape(-1, 3))
            at = start + sizes[7] + sizes[8]
        numpy.testing.assert_array_equal(numpy.stack(frames), self.array(tree, "x"))

    def test_quantum_espresso_has_the_coefficients_of_all_bands(self):
        tree = self.work / "qe"
        tree.mkdir()
        shutil.copy(self.codes / "qe/si.save/wfc1.dat", tree)
        text, at, records = (tree / "wfc1.dat").read_bytes(), 0, []
        while at < len(text):
            length = struct.unpack_from("<i", text, at)[0]
            records.append(text[at + 4 : at + 4 + length])
            at += length + 8
        numpy.testing.assert_array_equal(numpy.frombuffer(records[3], "<i4"), self.array(tree, "record_3"))
        bands = numpy.stack([numpy.frombuffer(record, "<f8") for record in records[4:]])
        numpy.testing.assert_array_equal(bands, self.array(tree, "record_4"))

    def test_lammps_has_the_atoms_of_each_process(self):
        tree = self.work / "lmp"
        tree.mkdir()
        shutil.copy(self.codes / "lmp/melt.restart.200", tree)
        atoms = [self.array(tree, f"atoms/{process}") for process in (0, 1)]
        self.assertEqual(16384, sum(len(part) for part in atoms))
        for part in atoms:
            self.assertTrue((part[:, 0] == 11).all())
            tags = part[:, 4].copy().view("<i8")
            self.assertEqual(len(tags), len(set(tags)))
            self.assertTrue(((tags >= 1) & (tags <= 16384)).all())


@unittest.skipUnless(shutil.which("gfortran"), "there is no gfortran")
class Fortran(Trees):
    def test_records_have_their_values(self):
        tree = self.work / "unformatted"
        tree.mkdir()
        (self.work / "writes.f90").write_text(PROGRAM)
        subprocess.run(["gfortran", "-o", "writes", "writes.f90"], cwd=self.work, check=True, timeout=120)
        for name in ("little.unf", "big.unf"):
            subprocess.run([self.work / "writes"], cwd=tree, check=True, timeout=60)
            for other in tree.iterdir():
                if other.name != name:
                    other.unlink()
            i = numpy.arange(1, 601)
            a, b = numpy.sin(0.01 * i) * i, numpy.cos(numpy.float32(0.1) * i[:333].astype("f4"))
            if name == "little.unf":
                numpy.testing.assert_allclose(a, self.array(tree, "record_1"), rtol=1e-14)
                numpy.testing.assert_allclose(b, self.array(tree, "record_2"), rtol=1e-4, atol=1e-5)
                numpy.testing.assert_array_equal(i[:500] ** 2 % 977, self.array(tree, "record_3"))
            else:
                got = self.array(tree, "record_0")
                self.assertEqual((4, 600), got.shape)
                numpy.testing.assert_allclose(a + 3, got[2], rtol=1e-14)
                self.assertEqual((4, 333), self.array(tree, "record_1").shape)
            shutil.rmtree(self.work / "store-unformatted")
            shutil.rmtree(self.work / "back-unformatted")


unittest.main(argv=sys.argv[:1])
