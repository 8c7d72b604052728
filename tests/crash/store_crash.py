"""kill -9 and I/O errors at every system call of the store's operations: store_crash.py KILL_AT STORE_PROGRAM"""

import os
import subprocess

import harness
from harness import Failure, expect


class Program:
    def __init__(self, path):
        self.path = os.path.abspath(path)

    def command(self, *arguments):
        return [self.path, *arguments]

    def run(self, *arguments):
        done = subprocess.run(self.command(*arguments), capture_output=True, text=True, timeout=harness.TIMEOUT)
        if done.returncode != 0:
            raise Failure(f"{arguments} afterwards: {done.stderr.strip()}")
        return done.stdout

    def sets(self, store):
        """The names of the sets, each checked to be whole."""
        return {line.split()[0] for line in self.run("list", store).splitlines()}


def check_clean(store):
    expect(os.listdir(os.path.join(store, "staging")) == [], "something is left in staging")


def check_message(result, store):
    if result.exit_code != 0 and result.signal == 0:
        expect(store in result.stderr, "the message does not name a file")


def crash_stage(bed, program, template):
    """Staging into an existing store, or one that is made on the way: the set is whole or not there."""
    store = bed.path("store")

    def check(result):
        expect(result.exit_code is not None or result.signal == 9, "crashed")
        check_message(result, store)
        made = os.path.exists(os.path.join(store, "forebay-store"))
        expect(made or template is None, "the store is gone")
        sets = program.sets(store) if made else set()
        expect(template is None or "keep" in sets, "an old set is gone")
        if result.exit_code is not None:
            expect(("new" in sets) == (result.exit_code == 0), "the exit code does not tell whether the set is there")
        program.run("stage", store, "next")
        if "new" not in sets:
            program.run("stage", store, "new")
        expect({"new", "next"} <= program.sets(store), "sets that were staged afterwards are not there")
        check_clean(store)

    bed.each_interference(program.command("stage", store, "new"), lambda: bed.fresh("store", template), check, 1000)


def crash_remove(bed, program, template):
    """Removing: the set is whole or gone, the other one is whole."""
    store = bed.path("store")

    def check(result):
        expect(result.exit_code is not None or result.signal == 9, "crashed")
        check_message(result, store)
        sets = program.sets(store)
        expect("keep" in sets, "an old set is gone")
        expect(result.exit_code != 0 or "victim" not in sets, "the set is still there")
        program.run("stage", store, "next")
        check_clean(store)
        if "victim" in sets:
            program.run("remove", store, "victim")

    bed.each_interference(program.command("remove", store, "victim"), lambda: bed.fresh("store", template), check, 1000)


def crash_remove_together(bed, program, template):
    """Removing several sets that refer to one another: what is left is whole, and has its parents."""
    store = bed.path("store")
    victims = {"grandchild", "child", "victim"}

    def check(result):
        expect(result.exit_code is not None or result.signal == 9, "crashed")
        check_message(result, store)
        sets = program.sets(store)
        expect("keep" in sets, "an old set is gone")
        expect(result.exit_code != 0 or not sets & victims, "a set is still there")
        program.run("stage", store, "next")
        check_clean(store)
        for name in ("grandchild", "child", "victim"):
            if name in sets:
                program.run("remove", store, name)

    bed.each_interference(program.command("remove", store, "grandchild", "child", "victim"),
                          lambda: bed.fresh("store", template), check, 1000)


def crash_restore(bed, program, template):
    """Restoring: files under their names are whole, and the next restore completes and tidies up."""
    target = bed.path("target")
    wanted = {}
    for name in ("g000000.fbc", "g000001.fbc"):
        with open(os.path.join(template, "sets", "keep", name)) as file:
            wanted[name] = file.read()

    def check_files(complete):
        sub = os.path.join(target, "sub")
        there = set(os.listdir(sub)) if os.path.isdir(sub) else set()
        expect(there <= set(wanted), "a stray file in the target")
        expect(not complete or there == set(wanted), "a file is missing")
        for name in there:
            with open(os.path.join(sub, name)) as file:
                expect(file.read() == wanted[name], f"{name} is not whole")

    def check(result):
        expect(result.exit_code is not None or result.signal == 9, "crashed")
        check_message(result, target)
        check_files(result.exit_code == 0)
        program.run("restore", template, "keep", target)
        check_files(True)
        expect(sorted(os.listdir(target)) == ["link", "sub"], "something is left in the target")

    bed.each_interference(program.command("restore", template, "keep", target), lambda: bed.fresh("target"), check, 1000)


def test(arguments):
    kill_at, store_program = arguments
    program = Program(store_program)
    with harness.Harness(kill_at) as bed:
        template = bed.path("template")
        program.run("stage", template, "keep")
        program.run("stage", template, "victim")
        crash_stage(bed, program, None)
        crash_stage(bed, program, template)
        crash_remove(bed, program, template)
        crash_restore(bed, program, template)
        program.run("stage", template, "child", "victim")
        program.run("stage", template, "grandchild", "child")
        crash_remove_together(bed, program, template)
        print(f"{bed.runs} runs with interference: old sets whole, no partial set, nothing left behind")


if __name__ == "__main__":
    harness.main(test)
