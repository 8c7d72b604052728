#!/usr/bin/env python3
"""forebay doctor: what it finds here, in directories that are good for a job and in others, and that it leaves no trace."""

import os
import unittest

from support import OK, USAGE, StoreTest, forebay, main, snapshot

UNFIT = 12


class Doctor(StoreTest):
    def setUp(self):
        super().setUp()
        self.stage = self.work / "stage"
        self.stage.mkdir()

    def ask(self, *words, code=OK, **options):
        answer = forebay("doctor", "--stage", self.stage, "--json", *words, **options)
        self.assertEqual((code, ""), (answer.code, answer.err), answer.out)
        return answer.json

    def finding(self, document, topic, verdict=None):
        found = [one for one in document["findings"] if one["topic"].startswith(topic) and verdict in (None, one["verdict"])]
        self.assertTrue(found, f"{topic}: {document}")
        return found[0]

    def test_a_machine_that_is_fit(self):
        self.pack()
        before = sorted(os.listdir(self.store)), sorted(os.listdir(self.stage))
        document = self.ask(self.store)
        self.assertEqual(0, document["stop_count"])
        self.assertEqual("sets are kept in this store", self.finding(document, f"store {self.store}")["use"])
        self.assertIn(self.finding(document, "stage")["verdict"], ("ok", "note"))
        for topic in ("build", "processors", "memory", "kernel", "inotify", "open files", "user", "mpi", "ucx", "munge", "encryption", "batch"):
            self.finding(document, topic)
        for one in document["findings"]:
            self.assertTrue(one["message"] and one["use"], one)
            self.assertEqual(one["verdict"] in ("warning", "stop"), one["change"] is not None, one)
        self.assertEqual(before, (sorted(os.listdir(self.store)), sorted(os.listdir(self.stage))))

    def test_text_says_the_same(self):
        answer = self.run_ok("doctor", "--stage", self.stage)
        for line in answer.out.splitlines():
            self.assertTrue(len(line) <= 80 or " " not in line.strip(), line)
        self.assertRegex(answer.out, r"(?m)^ok +build: forebay \d")
        self.assertRegex(answer.out, r"(?m)^(ok|note|warning) +memory: ")
        self.assertRegex(answer.out, r"\nNothing here stops a job; (no warnings|\d+ warnings?)\.\n$")

    def test_directories_that_are_not_there_yet(self):
        document = self.ask(self.work / "new/store", "--rendezvous", self.work / "new/rv")
        self.assertRegex(self.finding(document, "store")["message"], "^not there yet; ")
        self.assertFalse((self.work / "new").exists())

    def test_store_that_is_none(self):
        document = self.ask(self.tree, code=UNFIT)
        self.assertIn("is no store", self.finding(document, "store", "stop")["message"])
        self.assertIn("--store", self.finding(document, "store", "stop")["change"])
        answer = forebay("doctor", self.tree / "run.log", "--stage", self.stage)
        self.assertEqual(UNFIT, answer.code)
        self.assertRegex(" ".join(answer.out.split()), r"stop store .*: .*not a directory")
        self.assertIn("1 thing would stop a job", answer.out)

    def test_stage_in_which_others_can_remove_files(self):
        self.stage.chmod(0o777)
        document = self.ask(code=UNFIT)
        self.assertIn("chmod o-w", self.finding(document, "stage", "stop")["change"])
        self.stage.chmod(0o1777)
        self.ask()

    def test_rendezvous_that_others_can_read(self):
        directory = self.work / "rv"
        directory.mkdir()
        directory.chmod(0o755)
        document = self.ask("--rendezvous", directory, code=UNFIT)
        self.assertIn("chmod 700", self.finding(document, "rendezvous", "stop")["change"])
        directory.chmod(0o700)
        self.ask("--rendezvous", directory)

    @unittest.skipUnless(os.path.isdir("/proc/self"), "no /proc")
    def test_store_that_cannot_be_written(self):
        document = self.ask("/proc/self", code=UNFIT)
        self.assertTrue(self.finding(document, "store", "stop")["change"])

    def test_environment_names_directories_and_a_job(self):
        environment = {"FOREBAY_STORE": str(self.work / "st"), "SLURM_JOB_ID": "4711", "SLURM_JOB_NODELIST": "n[1-2]", "PATH": "/nonexistent"}
        document = self.ask(env=environment, code=UNFIT)
        self.finding(document, f"store {self.work}/st")
        self.assertIn("Slurm job 4711, but PATH has no scontrol", self.finding(document, "batch system", "stop")["message"])

    def case(self, *paths):
        case = self.work / "case"
        for path in paths:
            (case / path).parent.mkdir(parents=True, exist_ok=True)
            (case / path).write_text("x" * 9)
            os.utime(case / path, (1600000000, 1600000000))
        for program in ("icoFoam", "lmp"):
            (case / program).write_text("#!/bin/sh\n")
            (case / program).chmod(0o755)
        return case

    def test_a_code_and_its_directory(self):
        case = self.case("processor0/0.8/U", "processor1/0.8/U", "processor0/0.9/U", "processor0/0/U", "system/controlDict")
        before = snapshot(case)
        code = self.ask("--code", "openfoam", "--directory", case, "--", "./icoFoam", "-parallel", cwd=case)["code"]
        self.assertEqual([("0.8", None), ("0.9", "rank 1 of processor{rank}/{set:time}/** is not there again")],
                         [(one["label"], one["doubt"]) for one in code["sets"]])  # fmt: skip
        self.assertIn("system/", [one["path"] for one in code["left_alone"]])
        self.assertIn("startFrom latestTime", " ".join(code["requirements"]))
        self.assertEqual(("0.8", ["./icoFoam", "-parallel"]), (code["restart_from"], code["restart_command_words"]))
        self.assertEqual(before, snapshot(case))

    def test_a_restart_has_the_newest_set_that_is_complete(self):
        case = self.case("melt.restart.100", "melt.restart.200")
        code = self.ask("--code", "lammps", "--", "./lmp", "-in", "in", cwd=case)["code"]
        self.assertEqual(["./lmp", "-in", "in", "-var", "restart", f"{case}/melt.restart.200"], code["restart_command_words"])
        answer = self.run_ok("doctor", "--sets", "{name}.restart.{set}", "--stage", self.stage, cwd=case)
        self.assertIn("melt:200", answer.out)
        code = self.ask("--code", "gromacs", "--", "./lmp", cwd=case)["code"]
        self.assertEqual((None, ["./lmp", "-cpi", "{file:*.cpt}"]), (code["restart_from"], code["restart_command_words"]))

    def test_a_recipe_is_proposed(self):
        case = self.case("poly.restart.a", "poly.restart.b")
        code = self.ask("--code", "auto", "--", "./lmp", cwd=case)["code"]
        self.assertEqual("lammps-two", code["name"])
        self.assertEqual("the program './lmp'; 2 sets in the directory, the newest poly:b", code["candidates"][0]["reason"])
        (case / "poly.restart.b").unlink()
        (case / "poly.restart.a").unlink()
        document = self.ask("--code", "auto", "--", "./lmp", cwd=case, code=UNFIT)
        self.assertIsNone(document["code"]["name"])
        self.assertLessEqual({"lammps", "lammps-rank", "lammps-two"}, {one["name"] for one in document["code"]["candidates"]})
        self.assertIn("--code", self.finding(document, "code", "stop")["change"])
        answer = forebay("doctor", "--code", "auto", "--stage", self.stage, "--", "./lmp", cwd=case)
        self.assertIn("lammps-two (LAMMPS, two restart files in turn): the program './lmp'", " ".join(answer.out.split()))

    def test_wrong_questions_about_codes(self):
        self.run_error(USAGE, "doctor", "--", "true")
        self.run_error(USAGE, "doctor", "--code", "auto")
        self.run_error(USAGE, "doctor", "--code", "lammps", "--sets", "a{set}")
        self.run_error(3, "doctor", "--code", "lammps", "--directory", self.work / "nothing")

    def test_stage_and_store_together(self):
        self.pack()
        one = self.finding(self.ask(self.store), "store and stage")
        self.assertEqual(("note", None), (one["verdict"], one["change"]))
        elsewhere = self.finding(self.ask(env={"FOREBAY_STAGE": str(self.work / "nowhere")}), "stage of the application", "warning")
        self.assertIn("nowhere (there is no such directory), and the stage is ", elsewhere["message"])

    def test_one_store_only(self):
        self.run_error(USAGE, "doctor", self.store, self.work)
        self.run_error(USAGE, "doctor", self.work, "--store", self.store)


if __name__ == "__main__":
    main()
