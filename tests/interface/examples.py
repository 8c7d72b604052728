#!/usr/bin/env python3
"""The programs that the heads of public headers and the pages of docs/ show: each is compiled as it is there, and does what it says.

Usage: examples.py FOREBAY LIBRARY_DIR INCLUDE_DIR:... DOCS"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "read"))
import enzo_tree  # noqa: E402

FOREBAY, LIBRARIES, INCLUDES, DOCS = sys.argv[1:]
HEADERS = Path(INCLUDES.split(":")[0]) / "forebay"
COMPILERS = {".h": ["cc", "-std=c99"], ".hpp": ["c++", "-std=c++14"]}


def run(*words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=60, **options)
    assert done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def program_at_head(header):
    """The indented lines of the comment that the header begins with; None: they are no program."""
    lines = header.read_text().splitlines()
    prefix = "//" if header.suffix == ".hpp" else " *"
    head = []
    for line in lines[1:]:
        if not line.startswith(prefix) or line.startswith(" */"):
            break
        head.append(line)
    shown = [line[len(prefix) + 5:] for line in head if line == prefix or line.startswith(prefix + "     ")]
    text = "\n".join(shown).strip("\n") + "\n"
    return text if "int main(" in text else None


def fortran_program_at_head(module):
    """The same of a Fortran module: the lines of its first comment that are indented."""
    head = re.match(r"(?:!.*\n)+", module.read_text()).group(0)
    return "".join(line[4:] + "\n" for line in head.splitlines() if line == "!" or line.startswith("!   "))


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.work = Path(tempfile.mkdtemp(prefix="forebay-examples-"))
        cls.addClassCleanup(shutil.rmtree, cls.work)
        for step in range(2):
            enzo_tree.write(cls.work / f"DD{step:04}", step)
            run(FOREBAY, "pack", cls.work / f"DD{step:04}", "--store", cls.work / "store")

    def compiled(self, name, text, language, *flags):
        source = self.work / (name + {".h": ".c", ".hpp": ".cc"}[language])
        source.write_text(text)
        run(*COMPILERS[language], "-Wall", "-Wextra", "-Wpedantic", "-Werror", *(f"-I{one}" for one in INCLUDES.split(":")), source,
            "-o", self.work / name, f"-L{LIBRARIES}", f"-Wl,-rpath,{LIBRARIES}", *flags)
        return self.work / name

    def compiled_fortran(self, name, source, module, *flags):
        modules = [HEADERS / "forebay.f90", HEADERS / module]
        run("gfortran", "-std=f2018", "-Wall", "-Wextra", "-Wno-compare-reals", "-Werror", "-J", self.work, *modules, source, "-o", self.work / name,
            f"-L{LIBRARIES}", f"-Wl,-rpath,{LIBRARIES}", *flags)
        return self.work / name

    def at_head(self, header, *flags):
        text = program_at_head(HEADERS / header)
        self.assertIsNotNone(text, f"the head of {header} shows no program")
        return self.compiled(header.replace(".", "-"), text, Path(header).suffix, *flags)

    def test_every_header_is_tried(self):
        tried = set(re.findall(r'at_head\("([^"]+)"', Path(__file__).read_text()))
        shown = {one.name for one in HEADERS.iterdir() if one.suffix in COMPILERS and program_at_head(one)}
        self.assertEqual(shown, tried)

    def test_jobs(self):
        for program in (self.at_head("forebay.h", "-lforebay"), self.at_head("forebay.hpp", "-lforebay")):
            store = self.work / f"store-{program.name}"
            run(program, env={name: value for name, value in os.environ.items() if not name.startswith("FOREBAY_")})
            run(FOREBAY, "run", "--store", store, "--stage", self.work / "stage", "--backlog", "block", "--", program)
            self.assertIn("dump_", run(FOREBAY, "ls", store))
            self.assertIn(": intact", run(FOREBAY, "verify", store))

    def count_together(self, program):
        counter, secret = self.work / f"counter-{program.name}", self.work / f"secret-{program.name}"
        counter.write_text("41")
        server = subprocess.Popen([FOREBAY, "lockd", "--new-secret", "--secret", secret], stdout=subprocess.PIPE, text=True)
        try:
            env = dict(os.environ, FOREBAY_LOCK_SERVERS=server.stdout.readline().strip(), FOREBAY_LOCK_SECRET=str(secret))
            together = [subprocess.Popen([program, counter], env=env) for _ in range(8)]
            self.assertEqual([0] * 8, [one.wait(60) for one in together])
        finally:
            server.kill()
            server.communicate()
        self.assertEqual("49", counter.read_text().strip())

    def test_locks(self):
        self.count_together(self.at_head("forebay_lock.hpp", "-lforebay"))

    def test_reading(self):
        store, newest = self.work / "store", enzo_tree.field(1)
        mean = run(self.at_head("forebay_read.h", "-lforebay_read", "-lforebay"), store, "Density")
        self.assertAlmostEqual(newest[:, :, newest.shape[2] // 2].mean(), float(mean), 12)
        first, *sets = run(self.at_head("forebay_read.hpp", "-lforebay_read", "-lforebay"), store).split()
        self.assertEqual(newest[0, 0, 3], float(first))
        self.assertEqual(["DD0000"], sorted(set(sets)))

    @unittest.skipUnless(shutil.which("gfortran"), "gfortran is not installed")
    def test_fortran(self):
        for module in "forebay_lock.f90", "forebay_read.f90":
            (self.work / module).write_text(fortran_program_at_head(HEADERS / module))
        self.count_together(self.compiled_fortran("count", self.work / "forebay_lock.f90", "forebay_lock.f90", "-lforebay"))
        libraries = "-lforebay_read", "-lforebay"
        program = self.compiled_fortran("plane", self.work / "forebay_read.f90", "forebay_read.f90", *libraries)
        newest = enzo_tree.field(1)
        mean = float(run(program, self.work / "store", "Density"))
        self.assertAlmostEqual(newest[:, :, newest.shape[2] // 2].mean(), mean, 12)
        source = Path(__file__).resolve().parent / "reading.f90"
        run(self.compiled_fortran("reading", source, "forebay_read.f90", *libraries), self.work / "store")

    def test_codecs(self):
        said = run(self.at_head("forebay_codec.h", "-lforebay_codec", "-lforebay"))
        self.assertRegex(said, r"^\d+ bytes of 32768\n$")

    def test_pages(self):
        """Fenced programs in C and C++ compile and link."""
        found = 0
        for page in sorted(Path(DOCS).glob("*.md")):
            for number, (language, text) in enumerate(re.findall(r"^```(c|c\+\+)\n(.*?)^```$", page.read_text(), re.M | re.S)):
                found += 1
                with self.subTest(page=page.name, number=number):
                    self.assertIn("int main(", text, "a page shows complete programs")
                    suffix = ".h" if language == "c" else ".hpp"
                    self.compiled(f"{page.stem}-{number}", text, suffix, "-lforebay_read", "-lforebay_codec", "-lforebay")
        self.assertGreater(found, 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
