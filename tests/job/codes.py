#!/usr/bin/env python3
"""forebay run --code and --sets: codes that know nothing of Forebay, drained and resumed in the directory that they work in."""

import json
import os
import subprocess

from job_support import COMMAND, JobTest, environment, main

# Counts to 8 and writes its state in place, two files as of two ranks; resumes from what lies there. Kills itself once.
IN_PLACE = """
n=0; [ ! -f restart.0 ] || read n < restart.0
echo "start $n $*" >> starts
while [ $n -lt 8 ]; do
  n=$((n + 1)); for r in 0 1; do (echo $n; seq 2000) > restart.$r; done
  sleep 1.2
  if [ $n = 5 ] && [ ! -e killed ]; then touch killed; echo half > restart.0; kill -9 $$; fi
done
"""

# As GROMACS writes checkpoints: aside, then renamed over the one before, which stays as NAME_prev.cpt; a log is appended.
RENAMED = """
n=0; [ $# = 0 ] || read n < $2
echo "start $n $*" >> starts
while [ $n -lt 6 ]; do
  n=$((n + 1)); echo "frame $n" >> md.xtc; echo "step $n" >> md.log; : >> md.edr; : >> md.trr
  echo $n > md_step$n.cpt
  [ ! -e md.cpt ] || mv md.cpt md_prev.cpt
  mv md_step$n.cpt md.cpt
  sleep 0.7
  if [ $n = 4 ] && [ ! -e killed ]; then touch killed; sleep 0.5; echo "frame lost" >> md.xtc; kill -9 $$; fi
done
"""

# As OpenFOAM: a directory for each time in that of each rank; takes the largest time that it finds. The first run is killed
# while it writes 0.4.
TIMES = """
t=$(ls processor0 | grep -v constant | sort -g | tail -n 1); echo "start $t" >> starts
while [ $(echo "$t < 0.6" | bc) = 1 ]; do
  t=0$(echo "$t + 0.1" | bc)
  for p in 0 1; do
    mkdir -p processor$p/$t; echo "$t of $p" > processor$p/$t/U
    if [ $t = 0.4 ] && [ ! -e killed ]; then touch killed; sleep 3; kill -9 $$; fi
  done
  sleep 1.2
done
"""


class Codes(JobTest):
    def setUp(self):
        super().setUp()
        self.case = self.work / "case"
        self.case.mkdir()

    def run_code(self, code, script, *options, command=(), relaunch=2):
        (self.work / "code.sh").write_text(script)
        done = subprocess.run(
            [COMMAND, "run", "--store", self.store, "--stage", self.stage, "--relaunch", str(relaunch), "--relaunch-pause", "0.1",
             "--backlog", "block", *options, "--", "sh", str(self.work / "code.sh"), *command],
            cwd=self.case, env=environment(**self.env()), capture_output=True, text=True, timeout=100)  # fmt: skip
        self.assertEqual(code, done.returncode, done.stdout + done.stderr)
        self.assertEqual([], self.processes())
        return done.stderr

    def run_on_two_nodes(self, on_other):
        """`on_other`: a filter of sed for what is run on the second node."""
        launcher = self.work / "launcher"
        launcher.write_text(f'#!/bin/sh\nshift\neval "$(printf "%s" "$*" | sed "{on_other}")"\n')
        launcher.chmod(0o755)
        (self.work / "nodes").write_text("localhost\nother\n")
        return subprocess.run(
            [COMMAND, "run", "--store", self.store, "--stage", self.stage, "--nodes-file", str(self.work / "nodes"), "--launcher", str(launcher),
             "--sets", "a.{set}; done quiet 0.1s", "--", "sh", "-c", "echo 1 > a.1"],
            cwd=self.case, env=environment(**self.env()), capture_output=True, text=True, timeout=100)  # fmt: skip

    def test_a_directory_of_each_node_is_refused(self):
        done = self.run_on_two_nodes(f"s#{self.case}/#{self.work}/elsewhere/#g")
        self.assertEqual(2, done.returncode, done.stderr)
        self.assertIn(f"{self.case} is another directory on other than here", done.stderr)
        self.assertIn("let the code work in a directory that all nodes share, or run it on one node", done.stderr)
        self.assertEqual([], os.listdir(self.case))
        self.assertFalse(self.store.exists())

    def test_a_directory_that_nodes_share_is_gathered(self):
        done = self.run_on_two_nodes("s/a/a/")
        self.assertEqual((0, ["1"]), (done.returncode, self.names()), done.stderr)
        self.assertNotIn("another directory", done.stderr)
        self.assertEqual(["a.1"], os.listdir(self.case))

    def test_a_node_that_gives_no_answer_is_a_warning(self):
        done = self.run_on_two_nodes("s/^.*$/exit 255/")
        self.assertEqual((0, ["1"]), (done.returncode, self.names()), done.stderr)
        self.assertIn(f"warning: whether {self.case} is the same directory on other cannot be found out", done.stderr)

    def names(self):
        return [row["name"] for row in json.loads(self.run_ok("ls", self.store, "--json").out)["sets"]]

    def starts(self):
        return (self.case / "starts").read_text().splitlines()

    def test_in_place(self):
        (self.case / "input").write_text("mesh")
        err = self.run_code(0, IN_PLACE, "--sets", "restart.{rank}; done same quiet 0.1s", "--restore-to", str(self.case))
        self.assertIn("it is started again (1 of 2)", err)
        start = int(self.starts()[1].split()[1])
        self.assertIn(start, (4, 5), err)
        self.assertEqual("8", (self.case / "restart.0").read_text().splitlines()[0])
        self.assertEqual((self.case / "restart.0").read_text(), (self.case / "restart.1").read_text())
        self.assertEqual("mesh", (self.case / "input").read_text())
        self.assertIn("set", self.names())
        (aside,) = (self.case / ".forebay-aside").iterdir()
        self.assertEqual("half\n", (aside / "restart.0").read_text())

    def test_renamed_with_files_that_are_appended_to(self):
        self.run_code(0, RENAMED, "--code", "gromacs")
        self.assertEqual(["start 0 ", "start 4 -cpi md.cpt"], [line.replace(f"{self.case}/", "") for line in self.starts()])
        self.assertEqual([f"frame {n}" for n in range(1, 7)], (self.case / "md.xtc").read_text().splitlines())
        self.assertEqual("6\n", (self.case / "md.cpt").read_text())

    def test_a_case_with_a_mesh(self):
        for p in (0, 1):
            (self.case / f"processor{p}/constant").mkdir(parents=True)
            (self.case / f"processor{p}/constant/mesh").write_text(f"mesh {p}")
            (self.case / f"processor{p}/0").mkdir()
            (self.case / f"processor{p}/0/U").write_text("0")
        for name in ("system", "constant"):
            (self.case / name).mkdir()
            (self.case / name / "dict").write_text(name)
        rule = "processor{rank}/{set:time}/**; not processor*/0/**; with processor*/constant/**; done same quiet 0.2s"
        err = self.run_code(0, TIMES, "--sets", rule, "--restore-to", str(self.case))
        self.assertIn("0.4 is not complete, and is not stored", err)
        self.assertEqual(["start 0", "start 0.3"], self.starts())
        for p in (0, 1):
            self.assertEqual({"0", "constant", *(f"0.{n}" for n in range(1, 7))}, set(os.listdir(self.case / f"processor{p}")))
            self.assertEqual(f"mesh {p}", (self.case / f"processor{p}/constant/mesh").read_text())
            self.assertEqual(f"0.4 of {p}\n", (self.case / f"processor{p}/0.4/U").read_text())
        self.assertEqual("system", (self.case / "system/dict").read_text())
        self.assertTrue({"0.1", "0.2", "0.3", "0.6"} <= set(self.names()), self.names())
        self.run_ok("restore", "0.3", "--store", self.store, "--to", self.work / "back")
        self.assertEqual("0.3 of 1\n", (self.work / "back/processor1/0.3/U").read_text())

    def test_the_newest_set_that_is_not_complete_is_a_loss(self):
        rule = ("--sets", "chk.{set}.{rank}; done same quiet 0.1s")
        two = 'echo 1 > chk.1.0; echo 1 > chk.1.1; sleep 2; echo 2 > chk.2.0; '
        err = self.run_code(11, two, *rule, relaunch=0)
        self.assertIn(f"'2' is not stored, and stays in {self.case} of ", err)
        self.assertIn("rank 1 of chk.{set}.{rank} is not there again", err)
        err = self.run_code(0, two + "sleep 0.5; echo 3 > chk.3.0; echo 3 > chk.3.1", *rule, relaunch=0)
        self.assertIn("2 is not complete, and is not stored", err)
        self.assertNotIn("stays in", err)

    def test_an_application_with_another_stage_is_named(self):
        done = subprocess.run([COMMAND, "run", "--store", self.store, "--stage", self.stage, "--", "env", "FOREBAY_STAGE=/nowhere", "sleep", "4"],
                              cwd=self.case, env=environment(**self.env()), capture_output=True, text=True, timeout=100)  # fmt: skip
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertEqual(1, done.stderr.count("a process of the application (sleep) has FOREBAY_STAGE=/nowhere (there is no such directory)"),
                         done.stderr)  # fmt: skip

    def test_another_run_goes_on_from_the_store(self):
        script = 'echo "start $*" >> starts; echo 7 > chk.0007; sleep 0.3'
        self.run_code(0, script, "--sets", "chk.{set}; done quiet 0.1s", "--series", "one", relaunch=0)
        (self.case / "chk.0007").unlink()
        self.run_code(0, 'echo "start $*" >> starts', "--sets", "chk.{set}; done quiet 0.1s", "--series", "one", "--restart-args",
                      "--from {step} {path}", relaunch=0)  # fmt: skip
        self.assertEqual(["start ", f"start --from 7 {self.stage}/0007/chk.0007"], self.starts())
        self.run_code(0, 'echo "start $*" >> starts', "--sets", "chk.{set}; done quiet 0.1s", "--series", "one",
                      "--restart-command", "sh -c 'echo other {set} $FOREBAY_STEP >> starts'", relaunch=0)  # fmt: skip
        self.assertEqual("other 0007 7", self.starts()[-1])

    def test_a_recipe_that_the_program_shows(self):
        (self.case / "gmx").write_text("#!/bin/sh\n" + RENAMED)
        (self.case / "gmx").chmod(0o755)
        done = subprocess.run([COMMAND, "run", "--store", self.store, "--stage", self.stage, "--code", "auto", "--", "./gmx"], cwd=self.case,
                              env=environment(**self.env()), capture_output=True, text=True, timeout=100)  # fmt: skip
        self.assertIn("--code auto takes the recipe gromacs (GROMACS (gmx mdrun)): the program './gmx'", done.stderr)
        self.assertEqual(137, done.returncode)  # it kills itself, and is not started again
        self.assertIn("md", self.names())
        done = subprocess.run([COMMAND, "run", "--store", self.store, "--stage", self.stage, "--code", "auto", "--", "true"], cwd=self.case,
                              env=environment(**self.env()), capture_output=True, text=True, timeout=100)  # fmt: skip
        self.assertEqual(2, done.returncode)
        self.assertRegex(done.stderr, r"--code auto finds no recipe that is clear: .*gromacs")

    def test_a_copy_of_the_input_resumes_and_others_are_named(self):
        # As LAMMPS: from `read_restart` on if the input has it; the first run is killed.
        script = """
        n=0; [ -z "$(grep read_restart $2)" ] || n=$(cat $(grep -o '"[^"]*"' $2 | tr -d '"'))
        echo "start $n $2" >> starts; cp $2 read.$n
        while [ $n -lt 400 ]; do
          n=$((n + 100)); echo $n > a.restart.$n; sleep 1.5
          if [ $n = 300 ] && [ ! -e killed ]; then touch killed; echo half > a.restart.400; kill -9 $$; fi
        done
        """
        text = "units lj\ncreate_box 1 box\ncreate_atoms 1 box\nrun 400\n"
        (self.case / "in.a").write_text(text)
        err = self.run_code(0, script, "--code", "lammps", command=("-in", "in.a"))
        self.assertIn("in.a does not resume by itself: a restart runs .forebay-resume.in.a, a copy of it that does", err)
        self.assertIn(self.starts()[1], ("start 200 .forebay-resume.in.a", "start 300 .forebay-resume.in.a"))
        self.assertEqual(text, (self.case / "in.a").read_text())
        self.assertIn("run 400 upto start 0 stop 400", (self.case / ("read." + self.starts()[1].split()[1])).read_text())
        for name, content, why in (("in.b", "include x\nread_data y\nrun 5\n", "line 1, 'include x', may mean something else"),
                                   ("in.c", "units lj\n", "no line of it can be replaced")):  # fmt: skip
            (self.case / name).write_text(content)
            err = self.run_code(0, "true", "--code", "lammps", "--series", name, command=("-in", name))
            self.assertIn(f"{name} begins again from scratch at a restart", err)
            self.assertIn(why, err)
            self.assertIn("give it the line: if", err)
        self.assertIn("no word of the command names the input of lammps (-in FILE, -i FILE)",
                      self.run_code(0, "true", "--code", "lammps", "--series", "d"))  # fmt: skip

    def test_a_suspect_set_of_other_ranks_is_in_nobodys_way(self):
        script = """
        echo "start $*" >> starts
        n=$(($# * 2 + 1)); mkdir chk$n; for r in 0 1; do head -c 100000 /dev/zero > chk$n/r.$r; done; sleep 1.5
        [ $# = 0 ] || exit 0
        mkdir chk2; for r in 0 1 2 3 4 5; do echo $r > chk2/r.$r; done; sleep 1.5
        kill -9 $$
        """
        err = self.run_code(0, script, "--sets", "chk{set}/**; done quiet 0.2s", "--restart-args", "{set}", relaunch=1)
        self.assertIn("2 is stored as 2, and is not the first choice of a restart", err)
        self.assertEqual(["start ", "start 1"], self.starts())

    def test_a_wrong_rule_and_wrong_options(self):
        for words, why in ((("--code", "lamps"), "lammps"), (("--sets", "a{"), "--sets"), (("--directory", "x"), "need --code or --sets"),
                           (("--code", "lammps", "--complete", "rename"), "--complete does not go with"),
                           (("--code", "lammps", "--directory", "x"), "there is no such directory")):  # fmt: skip
            answer = self.run_error(2 if "no such" not in why and "lammps" != why else 3, "run", "--store", self.store, "--stage",
                                    self.stage, *words, "--", "true")  # fmt: skip
            self.assertIn(why, answer.err)


if __name__ == "__main__":
    main()
