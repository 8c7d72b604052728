#!/usr/bin/env python3
"""Every verb's --json keeps to its schema in docs/json: on whole stores and damaged ones, in jobs, and when it fails.

test_forms_are_all_seen, which runs last, fails for a form of a document that no test has printed.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "job"))

from job_support import JobTest, wait_until  # noqa: E402
from json_schema import Schemas  # noqa: E402
from support import COMMAND, DAMAGED, DIFFERENT, NOT_FOUND, OK, SOURCE, USAGE, environment, flip, forebay, main, make_tree  # noqa: E402

SCHEMAS = Schemas(SOURCE / "docs/json")
COMMON = "common.schema.json"
GOLDEN = SOURCE / "tests/golden"
LEFT = 11  # exit code: something in a stage is not stored
SEEN = set()
CONFIG = """<adios-config host-language="C">
  <adios-group name="fields"><var name="NX" type="integer"/><var name="T" dimensions="NX" type="double"/></adios-group>
  <method group="fields" method="NULL"/>
</adios-config>
"""


def verbs():
    return [verb["name"] for verb in forebay("help", "--json").json["verbs"]]


def forms(name):
    return [choice["$ref"].split("/")[-1] for choice in SCHEMAS.documents[f"{name}.schema.json"]["anyOf"]]


def empty_texts(value, place="$"):
    """Null is what is not there; no text is empty in its place."""
    if value == "":
        yield place
    for key, one in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from empty_texts(one, f"{place}.{key}")


class Contract(JobTest):
    def keeps(self, name, document):
        """Holds a document against the schema, and notes which form it has."""
        file = f"{name}.schema.json"
        self.assertEqual([], list(empty_texts(document)), name)
        self.assertEqual([], SCHEMAS.faults(document, file)[:10], f"{name}: {json.dumps(document)[:2000]}")
        for choice in SCHEMAS.documents[file]["anyOf"]:
            if not SCHEMAS.faults(document, file, choice):
                SEEN.add((name, choice["$ref"].split("/")[-1]))
        return document

    def answer(self, code, verb, *words, **options):
        """The document of a verb, which ends with `code`."""
        answer = forebay(verb, "--json", *words, **options)
        self.assertEqual(code, answer.code, f"{verb} {words}: {answer.out[:2000]}{answer.err}")
        return self.keeps(verb, answer.json)

    def ready(self, verb, *words):
        """A daemon, which has printed its document. It ends with the test."""
        process = self.start(verb, *words, "--json")
        text = ""
        while not text.endswith("}\n"):
            line = process.stdout.readline()
            self.assertTrue(line, f"{verb} ends: {text}")
            text += line
        return process, self.keeps(verb, json.loads(text))

    def two_sets(self):
        self.answer(OK, "pack", self.tree, "--store", self.store, "--lossy", "/da*a=abs:1e-3")
        make_tree(self.work / "DD0009", shift=1.0)
        return self.answer(OK, "pack", self.work / "DD0009", "--store", self.store, "--parent", "latest")

    def damage(self, name):
        path = self.containers(name)[0]
        flip(path, path.stat().st_size // 3)

    def test_verbs_and_schemas_are_the_same(self):
        there = {file.split(".")[0] for file in SCHEMAS.documents} - {"common"}
        self.assertEqual({*verbs(), "help", "version"}, there)

    def test_help_and_version(self):
        shown = self.keeps("help", forebay("help", "--json").json)
        self.assertEqual(shown, self.keeps("help", forebay("--help", "--json").json))
        for verb in shown["verbs"]:
            (one,) = self.keeps("help", forebay("help", verb["name"], "--json").json)["verbs"]
            self.assertEqual(verb, one)
            self.assertEqual(one, forebay(verb["name"], "--help", "--json").json["verbs"][0])
            text = forebay(verb["name"], "--help").out
            for option in verb["options"]:
                self.assertTrue(all(name in text for name in option["names"]), option)
        self.keeps("help", forebay("help", "unpack", "--json").json)
        self.keeps("version", forebay("--version", "--json").json)

    def test_failures(self):
        for verb in set(verbs()) - {"doctor", "scr", "run"}:
            self.answer(USAGE, verb, "--no-such-option")
            SEEN.add((verb, "failure"))
        self.answer(USAGE, "doctor", "--no-such-option")
        self.answer(USAGE, "scr", "walk")
        self.keeps("run", forebay("run", "--json", "--store", self.store, "--stage", self.stage, "--", "true", "x", env={"PATH": "/nowhere"}).json)
        for verb in ("ls", "verify", "info", "prune", "remove", "repair", "reject", "read", "query", "report"):
            more = {"prune": ["--keep-last", "1"], "query": ["x > 1"], "report": ["--to", self.work / "page"], "ls": [], "verify": [], "read": []}
            self.answer(NOT_FOUND, verb, self.work / "none", *more.get(verb, ["latest"]))
        failure = self.answer(NOT_FOUND, "ls", b"\xff\xfe")
        self.assertEqual("//4=", failure["error"]["path"]["base64"])

    def test_sets(self):
        self.two_sets()
        self.answer(OK, "ls", self.store)
        self.answer(OK, "ls", self.store, "DD0008")
        self.answer(OK, "ls", self.store, "latest", "--variables")
        self.answer(OK, "info", self.store, "DD0009", "--groups", "--relations")
        self.answer(OK, "info", self.containers()[0])
        self.answer(OK, "verify", self.store)
        self.answer(OK, "restore", "latest", "--store", self.store, "--to", self.work / "back")
        self.answer(DIFFERENT, "diff", "DD0008", "DD0009", "--store", self.store)
        self.answer(OK, "diff", "DD0008", "DD0008", "--store", self.store)
        self.answer(OK, "extract", "DD0008", "/data", "--store", self.store, "--to", self.work / "arrays")
        self.answer(OK, "extract", "DD0008", "/data", "--store", self.store, "--box", "3:9,5", "--to", self.work / "parts")
        self.answer(OK, "reject", self.store, "DD0009", "--reason", "it diverges")
        self.assertEqual("it diverges", self.answer(OK, "ls", self.store)["sets"][1]["set_aside"])
        self.answer(OK, "repair", self.store, "DD0008")
        self.answer(OK, "advise", self.tree, "--sample", "32K")
        self.answer(OK, "report", self.store, "--to", self.work / "page")
        self.answer(OK, "prune", self.store, "--keep-last", "1", "--dry-run")
        self.answer(OK, "remove", self.store, "DD0008", "--rebase")

    def test_several_sets_and_odd_files(self):
        os.mkfifo(self.tree / "pipe")
        (self.tree / os.fsdecode(b"odd\xff")).write_text("x")
        make_tree(self.work / "DD0009")
        self.answer(OK, "pack", "--each", self.tree, self.work / "DD0009", "--store", self.store)
        self.answer(OK, "ls", self.store, "DD0008", "--variables")
        text = self.work / "text"
        text.mkdir()
        (text / "a.cpt").write_text("no arrays")
        self.answer(OK, "pack", text, "--store", self.store)
        self.answer(OK, "ls", self.store, "text", "--variables")
        self.answer(OK, "read", self.store)
        self.answer(OK, "report", self.store, "--to", self.work / "page")

    def test_damage(self):
        self.two_sets()
        self.answer(OK, "pack", self.tree, "--store", self.store, "--name", "whole")
        self.damage("DD0008")
        report = self.answer(DAMAGED, "verify", self.store)
        self.assertTrue(any(one["damages"] for one in report["sets"]))
        self.answer(DAMAGED, "repair", self.store, "DD0008")
        self.answer(DAMAGED, "restore", "DD0008", "--store", self.store, "--to", self.work / "back")
        (self.store / "sets/DD0009/manifest").write_text("nothing")
        listed = self.answer(OK, "ls", self.store)
        self.assertIsNone(next(one for one in listed["sets"] if one["name"] == "DD0009")["rank_count"])
        self.answer(DAMAGED, "verify", self.store)
        self.answer(DAMAGED, "ls", self.store, "DD0009")
        self.answer(OK, "report", self.store, "--to", self.work / "page")
        pruned = self.keeps("prune", forebay("prune", self.store, "--keep-last", "1", "--json").json)
        self.assertEqual(["DD0009"], [one["set"] for one in pruned["problems"]])
        removed = self.keeps("remove", forebay("remove", self.store, "whole", "none", "--json").json)
        self.assertTrue(removed.get("problems") or removed["error"])

    def test_arrays(self):
        self.two_sets()
        store = ["--store", self.store]
        self.answer(OK, "read", self.store)
        self.answer(OK, "read", "data", *store, "--blocks")
        self.answer(OK, "read", "data", *store, "--block", "0", "--to", self.work / "data.npy")
        for more in ([], ["--values"], ["--values", "--limit", "2"]):
            self.answer(OK, "query", "data > 0.5", *store, *more)
        self.answer(OK, "query", "data > 1e9", *store)
        self.answer(OK, "convert", "data", *store, "--to", self.work / "all.npy", "--format", "npy")
        self.answer(OK, "verify", self.store, "--consistency", "--values")
        self.damage("DD0008")
        answer = forebay("query", "data > 0.5", *store, "--values", "--json")
        self.assertTrue(self.keeps("query", answer.json)["failures"])
        self.keeps("verify", forebay("verify", self.store, "--consistency", "--values", "--json").json)

    def test_files_of_process_groups(self):
        path = GOLDEN / "v1-groups.fbc"
        self.answer(OK, "info", path)
        torn = self.work / "torn.bp"
        torn.write_bytes(path.read_bytes()[:-1])
        self.answer(OK, "info", torn)
        self.answer(OK, "repair", torn)
        self.answer(OK, "read", path)
        self.answer(OK, "read", path, "field", "--to", self.work / "field.npy")
        self.answer(OK, "verify", path, "--consistency")

    def test_plans_recipes_and_configurations(self):
        words = "--nodes 8 --bytes 1G --interval 10m --pfs 1G".split()
        self.answer(OK, "plan", *words)
        self.answer(OK, "plan", *words, *"--peers 1G --stage 1G --node-mtbf 10d".split())
        self.answer(OK, "recipes")
        for one in self.answer(OK, "recipes")["recipes"]:
            self.answer(OK, "recipes", one["name"])
        case = self.work / "case"
        for name in ("processor0/0.8/U", "processor1/0.8/U", "processor0/constant/points", "system/fvSchemes"):
            (case / name).parent.mkdir(parents=True, exist_ok=True)
            (case / name).write_text("x")
        self.answer(OK, "recipes", "--match", "openfoam", case)
        doctor = ["doctor", "--stage", self.work]
        self.keeps("doctor", forebay(*doctor, "--json").json)
        self.keeps("doctor", forebay(*doctor, "--code", "openfoam", "--directory", case, "--json", "--", "./icoFoam", "-parallel").json)
        self.keeps("doctor", forebay(*doctor, "--code", "auto", "--directory", case, "--json", "--", "./unknown").json)
        (self.work / "run.xml").write_text(CONFIG)
        self.answer(OK, "config", "check", self.work / "run.xml")
        self.answer(OK, "config", "generate", self.work / "run.xml", "-o", self.work / "made")
        self.answer(OK, "config", "methods")

    def test_locks(self):
        _, document = self.ready("lockd", "--listen", "unix:socket")
        self.answer(OK, "locks", document["addresses"][0], cwd=self.work)

    def test_mount(self):
        if not (os.access("/dev/fuse", os.R_OK | os.W_OK) and shutil.which("fusermount3")):
            SEEN.add(("mount", "ready"))
            self.skipTest("there is no FUSE here")
        self.pack()
        (self.work / "mnt").mkdir()
        self.addCleanup(subprocess.run, ["fusermount3", "-u", "-z", self.work / "mnt"], capture_output=True, timeout=20)
        self.ready("mount", self.store, self.work / "mnt")

    def test_watch(self):
        self.run_application("--sets", 1)
        self.answer(OK, "watch", self.stage, "--store", self.store, "--complete", "rename", "--once")
        process, _ = self.ready("watch", self.stage, "--store", self.store, "--complete", "rename")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(0, process.wait(30))

    def test_daemons_of_a_job(self):
        job = ["--rendezvous", self.rendezvous]
        self.ready("aggregator", "--store", self.store, *job, "--agents", 1, "--backlog", "block")
        self.ready("agent", "--stage", self.stage, *job, "--complete", "rename")
        wait_until(lambda: self.status().get("agent_count") == 1)
        self.answer(OK, "status", *job)
        self.run_application()
        wait_until(lambda: self.status()["totals"]["durable_count"] == 3)
        status = self.answer(OK, "status", *job)
        self.assertEqual(["s0", "s1", "s2"], [one["name"] for one in status["past_sets"]])
        self.answer(OK, "fetch", "--stage", self.stage, "--ranks", "0-3", "--of", "4")
        self.answer(OK, "status", *job)
        self.answer(OK, "reject", "s2", *job, "--stored-as", "s2")
        part = self.stage / ".left.part"
        part.mkdir()
        (part / "state.rank0000").write_text("x")
        settled = forebay("settle", *job, "--json")
        self.assertIn(settled.code, (OK, LEFT), settled.err)
        self.keeps("settle", settled.json)
        self.answer(OK, "stop", "--node", "elsewhere", *job)
        self.answer(OK, "stop", *job)

    def test_a_run_and_its_history(self):
        file = self.work / "answer.json"
        words = ["run", "--store", self.store, "--stage", self.stage, "--complete", "rename", "--backlog", "block", "--json-file", file]
        done = forebay(*words, "--json", "--", sys.executable, self.application, env=self.env())
        self.assertEqual(OK, done.code, done.err)
        self.assertEqual(self.keeps("run", done.json), json.loads(file.read_text()))
        loud = forebay(*words, "--", "sh", "-c", "echo loud; exit 5", env=self.env())
        self.assertEqual((5, "loud\n"), (loud.code, loud.out), loud.err)
        self.assertEqual(5, self.keeps("run", json.loads(file.read_text()))["exit_code"])
        none = forebay(*words, "--", "no-such-program", env=self.env())
        self.assertEqual((127, ""), (none.code, none.out))
        self.assertEqual("not_found", self.keeps("run", json.loads(file.read_text()))["error"]["kind"])
        for wrong in (["--backlog", "never"], ["--nonsense"]):
            file.unlink()
            refused = forebay(*words, *wrong, "--", "touch", self.work / "started", env=self.env())
            self.assertEqual(USAGE, refused.code, refused.err)
            error = self.keeps("run", json.loads(file.read_text()))["error"]
            self.assertEqual("invalid_argument", error["kind"])
            self.assertIn(wrong[0], error["message"])
        self.assertEqual({"answer.json"}, {path.name for path in self.work.iterdir() if path.name.startswith("answer")})
        words[-1] = self.work / "none/answer.json"
        refused = forebay(*words, "--", "touch", self.work / "started", env=self.env())
        self.assertEqual(NOT_FOUND, refused.code, refused.err)
        self.assertFalse((self.work / "started").exists(), "it is found out before anything is started")
        jobs = self.answer(OK, "status", "--history", "--store", self.store)["jobs"]
        self.assertEqual([0, 5], [one["exit_code"] for one in jobs])

    def test_gathering(self):
        directory = self.work / "case"
        directory.mkdir()
        self.stage.mkdir()
        rule = ["--stage", self.stage, "--directory", directory, "--sets", "dump.{set}; done quiet 0.2s"]
        process, _ = self.ready("gather", *rule)
        self.answer(OK, "gather", "--stage", self.stage, "--order", "begin")
        (directory / "dump.1").write_text("x")
        time.sleep(0.5)
        self.answer(OK, "gather", "--stage", self.stage, "--order", "ended")
        (name,) = [path.name for path in self.stage.iterdir() if not path.name.startswith(".")]
        process.send_signal(signal.SIGTERM)
        process.wait(20)
        self.answer(OK, "gather", *rule, "--put-back", name, "--restart-args", "--restart {}")

    def test_scr(self):
        prefix = self.work / "prefix"
        prefix.mkdir()
        env = {"SCR_PREFIX": str(prefix), "SCR_CACHE_BASE": str(self.work / "cache"), "SCR_JOB_ID": "contract", "USER": "contract"}
        self.answer(OK, "scr", "prerun", env=env, cwd=prefix)
        self.answer(OK, "scr", "halt", "--checkpoints", "2", "--before", "2036-11-24T18:30", prefix, env=env)
        self.answer(OK, "scr", "index", prefix, env=env)
        self.answer(OK, "scr", "halt", "--remove", prefix, env=env)
        self.answer(OK, "scr", "run", "--", "true", env=env, cwd=prefix)
        self.answer(OK, "scr", "postrun", env=env, cwd=prefix)

    def test_unknown_fields_and_wrong_types_are_found(self):
        """The validator itself must be able to fail."""
        document = self.answer(OK, "pack", self.tree, "--store", self.store)
        for change in ({"more": 1}, {"file_count": "9"}, {"file_count": -1}, {"step": 1.5}, {"parents": {}}, {"remarks": [1]}, {"set": None}):
            self.assertTrue(SCHEMAS.faults(document | change, "pack.schema.json"), change)
        self.assertTrue(SCHEMAS.faults({key: document[key] for key in document if key != "set"}, "pack.schema.json"))
        self.assertTrue(SCHEMAS.faults({"error": {"kind": "odd", "message": "", "path": None, "offset": None, "hint": None}}, COMMON, {"$ref": "#/$defs/failure"}))
        self.assertTrue(SCHEMAS.faults("yesterday", COMMON, {"type": "string", "format": "date-time"}))
        self.assertRaises(KeyError, SCHEMAS.faults, 1, COMMON, {"multipleOf": 2})


class TheEnd(unittest.TestCase):
    """Runs after the others, by its name: C comes before T."""

    def test_forms_are_all_seen(self):
        if len(sys.argv) > 2:
            self.skipTest("not all tests run")
        wanted = {(file.split(".")[0], form) for file in SCHEMAS.documents if file != COMMON for form in forms(file.split(".")[0])}
        self.assertEqual(set(), wanted - SEEN, "no test prints these forms")


if __name__ == "__main__":
    main()
