#!/usr/bin/env python3
"""forebay config: what an XML file of adaptable I/O says, and the source text that is made from it."""

import os
import pathlib
import subprocess

from support import EXISTS, NOT_FOUND, USAGE, StoreTest, forebay, main

XML = """<?xml version="1.0"?>
<adios-config host-language="%s">
  <adios-group name="fields" stats="On" time-index="it">
    <var name="NX" type="integer"/>
    <global-bounds dimensions="8,NX" offsets="0,0">
      <var name="T" gwrite="t" type="double" dimensions="it,1,NX" transform="zlib:5"/>
    </global-bounds>
    <attribute name="T/unit" value="K"/>
    <attribute name="width" var="NX"/>
  </adios-group>
  <method group="fields" method="null" base-path="out/">verbose=1</method>
  <buffer size-MB=3/>
</adios-config>
"""

UNDERSTOOD = """\
group fields: C, 2 variables, 2 attributes, statistics full, time index it
  method null with verbose=1 in out/
  TYPE     NAME    SHAPE                         TRANSFORM
  integer  NX      scalar
  double   T       {it,1,NX} of {8,NX} at {0,0}  zlib:5
  string   T/unit  attribute
  integer  width   attribute, as NX
buffers have 3.0 MiB at most
"""

WRITING = """\
/* Made by 'forebay config generate' */
adios_groupsize = 4 \\
                + 8 * (1) * (NX);
adios_group_size (adios_handle, adios_groupsize, &adios_totalsize);
adios_write (adios_handle, "NX", &NX);
adios_write (adios_handle, "T", t);
"""


class Config(StoreTest):
    def file(self, text=XML % "C"):
        path = self.work / "run.xml"
        path.write_text(text)
        return path

    def test_check_tells_what_was_understood(self):
        path = self.file()
        self.assertEqual(UNDERSTOOD, self.run_ok("config", "check", path).out)
        document = self.run_ok("config", "check", path, "--json").json
        self.assertEqual([], document["warnings"])
        self.assertEqual(3 << 20, document["max_buffer_bytes"])
        (group,) = document["groups"]
        self.assertEqual({"name": "T", "type": "double", "dimensions": "it,1,NX", "global_dimensions": "8,NX",
                          "offsets": "0,0", "transform": "zlib:5"}, group["variables"][1])  # fmt: skip
        self.assertEqual([{"name": "null", "parameters": "verbose=1", "base_path": "out/"}], group["methods"])

    def test_check_tells_what_is_wrong_and_where(self):
        for old, new, message in (
            ("double", "duoble", ":6:32: 'duoble' is no type (did you mean double?)"),
            ("8,NX", "8,NXX", ":5:20: global dimension 'NXX' is neither"),
            ('"null"', '"nul"', ":11:26: group 'fields': there is no method \"nul\" (did you mean NULL"),
            ("zlib:5", "zlip:5", ":6:67: group 'fields', variable 'T': transform \"zlip:5\": there is no such transform"),
            ("zlib:5", "zfp:rate=8", ":6:67: group 'fields', variable 'T': transform \"zfp:rate=8\": "),
            ("</adios-group>", "", "XML"),
            ("out/", "out", ":11:40: base-path 'out' does not end with a '/'"),
        ):
            answer = self.run_error(USAGE, "config", "check", self.file((XML % "C").replace(old, new)))
            self.assertIn(message, answer.err)
        self.run_error(NOT_FOUND, "config", "check", self.work / "nothing.xml")
        self.run_error(USAGE, "config", "check")
        self.run_error(USAGE, "config", "chekc", self.file())

    def test_check_warns_before_it_tells_what_is_wrong(self):
        path = self.file((XML % "C").replace('group="fields"', 'group="Fields"'))
        answer = forebay("config", "check", path)
        self.assertEqual(USAGE, answer.code, answer.err)
        self.assertRegex(answer.err, r"(?s)11:11: method null for group 'Fields'.*did you mean fields.*"
                                     r"expected at least one element 'method'")  # fmt: skip

    def test_methods_are_listed(self):
        names = self.run_ok("config", "methods").out.split()
        self.assertLessEqual({"MPI", "POSIX", "NULL"}, set(names))
        self.assertEqual(names, self.run_ok("config", "methods", "--json").json["methods"])

    def test_plug_ins_are_listed(self):
        source = pathlib.Path(__file__).resolve().parents[2]
        subprocess.run(["cc", "-shared", "-fPIC", f"-I{source}/include", source / "examples/methods/text.c", "-o",
                        self.work / "text.so"], check=True)  # fmt: skip
        (self.work / "broken.so").write_text("no plug-in")
        (self.work / "text.txt").write_text("no plug-in either")
        answer = forebay("config", "methods", env={"FOREBAY_METHOD_PATH": str(self.work)})
        self.assertEqual(0, answer.code, answer.err)
        self.assertEqual(1, answer.out.split().count("TEXT"), answer.out)
        self.assertNotIn("BROKEN", answer.out.upper())
        self.assertIn("broken.so: this plug-in cannot be used", answer.err)
        self.assertNotIn("TEXT", self.run_ok("config", "methods").out)

    def test_check_warns_of_what_is_ignored(self):
        path = self.file((XML % "C").replace("verbose=1", "vrebose=1").replace("stats=", "color='x' stats="))
        answer = self.run_warned("config", "check", path)
        self.assertIn("run.xml:3:30: adios-group has no attribute 'color', which is ignored", answer.err)
        self.assertIn("run.xml:11:57: group 'fields': method NULL does not know the parameter \"vrebose\"", answer.err)
        answer = self.run_warned("config", "check", self.file((XML % "C").replace("zlib:5", "zlib:level=3;foo=4")))
        self.assertIn("run.xml:6:67: group 'fields', variable 'T': ", answer.err)
        self.assertIn('does not know the parameter "foo"', answer.err)

    def run_warned(self, *words):
        answer = forebay(*words)
        self.assertEqual(0, answer.code, answer.err)
        self.assertTrue(all(line.startswith("forebay: warning: ") for line in answer.err.splitlines()), answer.err)
        return answer

    def test_generate_writes_includes(self):
        out = self.work / "generated"
        answer = self.run_ok("config", "generate", self.file(), "-o", out)
        self.assertEqual(f"{out}/gwrite_fields.ch\n{out}/gread_fields.ch\n", answer.out)
        self.assertEqual(WRITING, (out / "gwrite_fields.ch").read_text())
        self.assertIn('adios_schedule_read (fp, s, "T", 0, 1, t);\n', (out / "gread_fields.ch").read_text())
        self.run_ok("config", "generate", self.file(), "-o", out, "--old-reads")
        self.assertIn('adios_read (adios_handle, "NX", &NX, adios_buf_size);\n', (out / "gread_fields.ch").read_text())
        self.run_ok("config", "generate", self.file(XML % "Fortran"), "-o", out)
        self.assertIn('call adios_write (adios_handle, "T", t, adios_err)\n', (out / "gwrite_fields.fh").read_text())

    def test_generate_leaves_alone_what_would_not_change(self):
        self.run_ok("config", "generate", self.file(), "--output", self.work)
        path = self.work / "gwrite_fields.ch"
        os.utime(path, (1, 1))
        self.run_ok("config", "generate", self.file(), "--output", self.work)
        self.assertEqual(1, path.stat().st_mtime)
        self.run_ok("config", "generate", self.file((XML % "C").replace('"t"', '"u"')), "--output", self.work)
        self.assertIn('"T", u);', path.read_text())

    def test_generate_needs_a_place(self):
        self.run_error(EXISTS, "config", "generate", self.file(), "-o", self.work / "run.xml")


if __name__ == "__main__":
    main()
