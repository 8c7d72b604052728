#!/usr/bin/python3
"""Runs calls.c in all its scenarios and looks at the files that are left.

usage: calls.py PROGRAM DUMP LAUNCHER [LAUNCHER_OPTION...]
"""

import json
import os
import subprocess
import sys
import tempfile

PROGRAM, DUMP, *LAUNCHER = sys.argv[1:]
RANKS = 3
SECONDS = 60
FILE = "out.fb"
METHODS = ("MPI", "POSIX", "MPI_AGGREGATE")


def run(directory, scenario, method, before=()):
    command = [*before, *LAUNCHER, "-n", str(RANKS), PROGRAM, scenario, method]
    done = subprocess.run(command, cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace", timeout=SECONDS, check=False)
    return done.returncode, done.stdout


def steps(directory):
    """Of the file: step by step, the ranks and lengths of the blocks of x."""
    done = subprocess.run([DUMP, FILE, "--values"], cwd=directory, stdout=subprocess.PIPE, text=True, check=True)
    found = {}
    for part in json.loads(done.stdout)["parts"]:
        for block in part.get("blocks", []):
            if block["name"] == "x":
                length = block["shape"][0]
                assert block["values"] == [1000 * part["rank"] + i for i in range(length)], "other values"
                found.setdefault(part["step"], []).append((part["rank"], length))
    return [sorted(found[step]) for step in sorted(found)]


def stored(directory, path=FILE):
    done = subprocess.run([DUMP, path, "--values"], cwd=directory, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)["parts"]


XML = """<adios-config host-language="C">
<adios-group name="g">
<var name="n" type="integer"/> <var name="total" type="integer"/>
<var name="at" type="integer"/>
<global-bounds dimensions="total" offsets="at">
<var name="x" type="double" dimensions="n"          transform="zlip:5"/>
</global-bounds>
<var name="y" type="double" dimensions="n" transform="zlib:level=3;foo=4"/>
</adios-group>
<method group="g" method="POSIX">verbose=2; quieet=1</method>
</adios-config>
"""


def check_config():
    with tempfile.TemporaryDirectory(prefix="forebay-calls-") as directory:
        path = os.path.join(directory, "run.xml")
        with open(path, "w", encoding="ascii") as file:
            file.write(XML)
        code, output = run(directory, "config", "")
        assert code == 0, output
        for line in ("ERROR: run.xml:6:53: group 'g', variable 'x': transform", "WARN: run.xml:8:44: group 'g', variable 'y': ",
                     "WARN: run.xml:10:45: group 'g': method POSIX does not know the parameter \"quieet\""):  # fmt: skip
            assert output.count(line) == 1, f"not once {line}\n{output}"
        assert steps(directory) == [of_all(10), of_all(20)], output
        assert all(block["transform"] == "" for part in stored(directory) for block in part.get("blocks", []))
        with open(path, "w", encoding="ascii") as file:
            file.write(XML.replace('<var name="n"', '<vra name="n"'))
        code, output = run(directory, "wrong_config", "")
        assert code == 0, output
        assert output.count("WARN: run.xml:3:2: 'vra' is no element of a group") == 1, output
        assert -1 < output.find("WARN: ") < output.find("ERROR: run.xml:6:"), output
        print("config: as expected", flush=True)


def check_general():
    with tempfile.TemporaryDirectory(prefix="forebay-calls-") as directory:
        code, output = run(directory, "general", "POSIX:verbose=1;logfile=errors.log")
        assert code == 0 and "ERROR" not in output and "WARN" not in output, output
        with open(os.path.join(directory, "errors.log"), encoding="ascii") as file:
            lines = file.read().splitlines()
        assert len(lines) == 2 and all(line.startswith("ERROR: ") and "to the log" in line for line in lines), lines
        code, output = run(directory, "aborts", "POSIX:abort_on_error=1")
        assert code != 0 and "ERROR: " in output and "went on" not in output, output
        print("parameters of all methods: as expected", flush=True)


def check_further():
    with tempfile.TemporaryDirectory(prefix="forebay-calls-") as directory:
        code, output = run(directory, "further", "POSIX")
        assert code == 0, output
        parts = stored(directory)
        assert {part["step"] for part in parts} == {0, 1, 2}, parts
        for part in parts:
            assert {one["name"]: one["value"] for one in part["attributes"]} == {"kept": [2]}, part["attributes"]
        first = [block for part in parts if part["step"] == 0 for block in part["blocks"]]
        assert {block["name"] for block in first} == {"n", "below/total", "aside/at", "x"}, first
        assert steps(directory) == [of_all(1000), of_all(200), of_all(300)], output
        print("further calls: as expected", flush=True)


def of_all(length):
    return [(rank, length) for rank in range(RANKS)]


def check(scenario, method, expected, passes=True, before=(), errors=None):
    with tempfile.TemporaryDirectory(prefix="forebay-calls-") as directory:
        code, output = run(directory, scenario, method, before)
        assert not passes or code == 0, f"{scenario} {method} returned {code}:\n{output}"
        lines = [line for line in output.splitlines() if line.startswith("ERROR")]
        assert errors is None or len(lines) == errors, f"{scenario} {method}: not {errors} errors but\n{output}"
        if expected is not None:
            found = steps(directory)
            assert found == expected, f"{scenario} {method}: the file has {found}, not {expected}\n{output}"
        print(f"{scenario} {method}: as expected", flush=True)


OLD_STEPS = f"{DUMP} {FILE} | grep -q '\"step\": 1'"
OLD_HDF5 = f"/usr/bin/python3 -c \"import h5py; assert list(h5py.File('{FILE}')['step_1/x'][197:200]) == [197, 198, 199]\""


def small_disk(look=OLD_STEPS):
    """A command that runs another on a disk of 8 MB of its own and then looks at what is there, or None where that is not allowed."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=8m", "none"]
    with tempfile.TemporaryDirectory() as directory:
        probe = subprocess.run(["unshare", "-m", *mount, directory], stderr=subprocess.DEVNULL, check=False)
    script = f'{" ".join(mount)} "$PWD" && cd "$PWD" && "$@" && {look}'
    return ["unshare", "-m", "sh", "-c", script, "sh"] if probe.returncode == 0 else None


def main():
    check("no_config", "MPI", None, errors=1)
    check_config()
    check_general()
    check_further()
    check("differ", "MPI", [of_all(10)], errors=5)
    check("names", "MPI", [of_all(1000)])
    check("read_back", "MPI", [of_all(100), of_all(200)])
    check("read_back", "POSIX", [of_all(100), of_all(200)])
    for method in METHODS:
        all_of_first = sorted(of_all(50000) * (3 if method == "POSIX" else 2))
        check("overflow", method, [all_of_first, of_all(10)])
        check("announced", method, [of_all(700000)] * 4)
        check("killed", method, [of_all(100), of_all(200)], passes=False)
        check("two_writers", method, [of_all(10)])
    # Every rank has a file of its own but with MPI, where what lies behind its 4 MB is in everybody's way.
    check("full", "POSIX", [of_all(100), of_all(200), [(0, 1 << 20), (2, 1 << 20)]])
    check("full", "MPI", [of_all(100), of_all(200), [(0, 1 << 20), (2, 1 << 20)]])
    disk = small_disk()
    if disk:
        for method in METHODS:
            check("disk", method, None, before=disk)
        # Stored, or still staged where the step that did not fit came before it was packed.
        kept = "ls -d g.store/sets/out.fb-000002 || ls -d forebay-io-*/*/out.fb-000002"
        check("disk", "FOREBAY:stage=.;profile=fast", None, before=small_disk(f"{{ {kept}; }}"))
        if os.path.exists(os.path.join(os.path.dirname(DUMP), "../lib/forebay/methods/phdf5.so")):
            check("disk", "PHDF5", None, before=small_disk(OLD_HDF5))
    else:
        print("no disk of its own can be made here: left out")


if __name__ == "__main__":
    main()
