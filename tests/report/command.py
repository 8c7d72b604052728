#!/usr/bin/env python3
"""forebay report: what the page says of a store with NaNs, damage and names that would be markup, as a parser of HTML and,
where it is installed, Chromium have it.

Usage: command.py FOREBAY
"""

import shutil
import subprocess
import sys
import tempfile
import unittest
from html.parser import HTMLParser
from pathlib import Path

try:
    import numpy
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

FOREBAY = sys.argv[1]
OK, USAGE, NOT_FOUND, EXISTS = 0, 2, 3, 4
EMPTY = {"meta", "br"}


class Page(HTMLParser):
    """The page's text, and whether its elements are nested as they should be."""

    def __init__(self, path):
        super().__init__()
        self.said, self.open, self.tags = [], [], set()
        self.feed(path.read_text())
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        assert not any(name.startswith("on") for name, _ in attributes), attributes
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, tag

    def handle_data(self, data):
        self.said.append(data)

    @property
    def text(self):
        return " ".join(self.said)


def run(*words):
    done = subprocess.run([FOREBAY, *map(str, words)], capture_output=True, text=True, timeout=100)
    return done.returncode, done.stdout, done.stderr


class Report(unittest.TestCase):
    def setUp(self):
        self.work = Path(tempfile.mkdtemp(prefix="forebay-report-"))
        self.addCleanup(shutil.rmtree, self.work)
        self.store, self.to = self.work / "store", self.work / "out"

    def pack(self, steps, name="t"):
        for step in range(steps):
            tree = self.work / f"dump_{step}"
            tree.mkdir()
            values = numpy.arange(200.0) + step
            if step >= 2:
                values[5] = numpy.nan
            numpy.savez(tree / "state.0.npz", **{name: values})
            numpy.save(tree / "plain.npy", values)
            self.assertEqual(OK, run("pack", tree, "--store", self.store)[0])

    def page(self, *words):
        self.assertEqual((OK, ""), run("report", self.store, "--to", self.to, *words)[::2])
        page = Page(self.to / "index.html")
        self.assertNotIn("script", page.tags)
        return page

    def test_nans_and_damage(self):
        self.pack(4, "<img src=x onerror=alert(1)>")
        for container in (self.store / "sets/dump_1").glob("*.fbc"):
            container.write_bytes(container.read_bytes()[:100])
        page = self.page()
        self.assertNotIn("img", page.tags)
        self.assertIn("step 2: ", page.text)
        self.assertIn("NaN appear", page.text)
        self.assertIn("another size than the manifest says", page.text)
        if chromium := shutil.which("chromium"):
            shown = subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.work / 'chromium'}",
                                    "--dump-dom", (self.to / "index.html").as_uri()], capture_output=True, text=True, timeout=60)
            self.assertIn("NaN appear", shown.stdout)
            self.assertIn("<svg", shown.stdout)

    def test_times_of_stages(self):
        self.pack(2)
        text = self.page().text
        for told in ("Time in each stage", "Seconds on the clock", "encode, processors"):
            self.assertIn(told, text)

    def test_variables_that_follow_others_and_arrays_of_a_layout(self):
        for step in range(2):
            tree = self.work / f"dump_{step}"
            tree.mkdir()
            for rank in range(4):
                density = numpy.cumsum(numpy.random.default_rng(rank + step).normal(size=40000)) + 100
                numpy.savez(tree / f"state.{rank}.npz", Density=density, Pressure=density * 0.4, **{f"Own{rank}": density[:9]})
            self.assertEqual(OK, run("pack", tree, "--store", self.store, "--profile", "max")[0])
        page = self.page()
        self.assertIn("Pressure ~ 0.4 Density", page.text)
        layout = self.work / "layout.toml"
        layout.write_text('[[array]]\nname = "Density"\nvariables = "/Density"\nranks = [4]\n')
        page = self.page("--layout", layout)
        self.assertIn("160000", page.text)
        layout.write_text('[[array]]\nname = "Density"\nvariables = "/Nothing"\nranks = [4]\n')
        code, _, errors = run("report", self.store, "--to", self.to, "--layout", layout)
        self.assertEqual(USAGE, code)
        self.assertIn("Nothing", errors)

    def test_what_is_there_stays(self):
        self.pack(1)
        self.to.mkdir()
        index = self.to / "index.html"
        index.write_text("<p>mine")
        code, _, said = run("report", self.store, "--to", self.to)
        self.assertEqual(EXISTS, code, said)
        self.assertEqual("<p>mine", index.read_text())
        index.write_text("")
        self.page()
        self.page()
        self.assertEqual([index], list(self.to.iterdir()))

    def test_what_cannot_be_done(self):
        self.assertEqual(NOT_FOUND, run("report", self.work / "nothing", "--to", self.to)[0])
        self.pack(1)
        self.assertEqual(USAGE, run("report", self.store)[0])
        self.assertFalse(self.to.exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
