#!/usr/bin/env python3
"""What the command prints for help and for wrong command lines, compared with golden/*.txt.

Usage: golden.py FOREBAY [--update]
"""

import difflib
import sys
from pathlib import Path

from support import forebay

GOLDEN = Path(__file__).resolve().parent / "golden"
VERBS = (
    "pack", "restore", "ls", "info", "verify", "extract", "read", "query", "convert", "report", "mount", "advise", "repair", "prune", "remove", "diff", "lockd", "locks", "plan",
    "run", "watch", "status", "settle", "stop", "agent", "aggregator", "fetch",
    "doctor", "recipes", "config", "scr",
)  # fmt: skip

CASES = {
    "help": [["--help"]],
    "plan": [
        "plan --nodes 32 --bytes 2.4G --interval 250s --pfs-stream 605M --buffer 20G".split(),
        "plan --nodes 64 --bytes 2.4G --interval 250s --pfs-stream 458M --buffer 20G".split(),
        "plan --nodes 64 --bytes 2.4G --interval 250s --network 3G --pfs 1G --codec 80M --ratio 1.6".split(),
        "plan --nodes 512 --bytes 48G --interval 10m --network 3G --pfs 20G --codec 800M --ratio 1.6".split(),
        "plan --nodes 8 --bytes 1G --interval 10m --codec 100M --groups 4 --json".split(),
        "plan --nodes 512 --bytes 48G --interval 1h --network 11G --pfs 50G --node-network 10G --stage 5G --node-mtbf 1000d".split(),
    ],
    **{f"help_{verb}": [[verb, "--help"]] for verb in VERBS},
    "usage": [
        ["unpack"],
        ["help", "unpack"],
        ["pack"],
        ["pack", "DIR"],
        ["pack", "DIR", "--store"],
        ["pack", "DIR", "--store", "S", "--scheme", "best"],
        ["pack", "DIR", "--store", "S", "--group-size", "0"],
        ["pack", "DIR", "--store", "S", "--group-size", "many"],
        ["pack", "DIR", "--store", "S", "--block-size", "64Q"],
        ["pack", "DIR", "--store", "S", "--memory", "99999999999G"],
        ["pack", "DIR", "--store", "S", "--colour"],
        ["pack", "DIR", "--store", "S", "--match", "("],
        ["pack", "DIR", "--store", "S", "--lossy", "*=psnr:60"],
        ["pack", "DIR", "--store", "S", "--lossy", "*=abs:0"],
        ["restore", "--to", "D", "--store", "S"],
        ["restore", "NAME", "--store", "S"],
        ["restore", "NAME", "--to", "D"],
        ["restore", "A", "B", "C", "--to", "D"],
        ["ls"],
        ["verify", "--json"],
        ["extract", "NAME", "VARIABLE", "--store", "S", "--to", "-", "--json"],
        ["advise"],
        ["prune", "S"],
        ["diff", "A", "--store", "S"],
        ["diff", "A", "B"],
        ["lockd", "--listen", "node7:4040"],
        ["lockd", "--new-secret"],
        ["lockd", "--listen", "tcp:127.0.0.1:0"],
        ["lockd", "--lease", "0"],
        ["locks", "nonsense"],
        ["locks", "unix:@a", "unix:@b"],
        ["plan"],
        ["recipes", "--match"],
        ["recipes", "nothing"],
        ["config"],
        ["config", "chekc", "F"],
        ["config", "check", "missing.xml"],
        ["agent", "--rendezvous", "R"],
        ["agent", "--stage", "D"],
        ["agent", "--stage", "D", "--rendezvous", "R", "--complete", "soon"],
        ["agent", "--stage", "D", "--rendezvous", "R", "--background", "--until-eof"],
        ["aggregator", "--rendezvous", "R"],
        ["aggregator", "--store", "S", "--rendezvous", "R", "--backlog", "all"],
        ["aggregator", "--store", "S", "--rendezvous", "R", "--fabric", "pigeons"],
        ["aggregator", "--store", "S", "--rendezvous", "R", "--peer-timeout", "0"],
        ["run", "--store", "S", "--stage", "D"],
        ["run", "--store", "S", "--", "true"],
        ["run", "--stage", "D", "--", "true"],
        ["run", "--store", "S", "--stage", "D", "--relaunch", "-1", "--", "true"],
        ["run", "--store", "S", "--stage", "D", "--restart-args", "'x", "--", "true"],
        ["run", "--store", "S", "--stage", "D", "--nodes-file", "missing", "--", "true"],
        ["run", "--store", "S", "--stage", "D", "--aggregator-nodes", "a;b", "--", "true"],
        ["watch", "--store", "S", "--complete", "rename"],
        ["watch", "D", "--store", "S"],
        ["watch", "D", "--complete", "rename"],
        ["watch", "D", "--store", "S", "--complete", "rename", "--once", "--background"],
        ["status"],
        ["status", "--rendezvous", "missing"],
        ["status", "--store", "missing"],
        ["status", "--rendezvous", "R", "--metrics", "--json"],
        ["stop", "--rendezvous", "missing"],
        ["fetch"],
        ["fetch", "--stage", "D"],
        ["fetch", "--stage", "D", "--ranks", "0-4", "--of", "4"],
        ["fetch", "--stage", "D", "--ranks", "0"],
        ["plan", "--nodes", "2", "--bytes", "1G"],
        ["plan", "--nodes", "2", "--bytes", "1G", "--interval", "1w"],
        ["plan", "--nodes", "2", "--bytes", "1G", "--interval", "1h"],
        ["plan", "--nodes", "2", "--bytes", "1G", "--interval", "1h", "--pfs", "fast"],
        ["plan", "--nodes", "2", "--bytes", "1G", "--interval", "1h", "--pfs", "1G", "--margin", "100"],
        ["plan", "--nodes", "2", "--bytes", "1G", "--interval", "1h", "--pfs", "1G", "--node-mtbf", "100d"],
        ["plan", "--nodes", "2", "--bytes", "1G", "--interval", "1h", "--pfs", "1G", "--node-mtbf", "100d", "--stage", "1G"],
    ],
}


def transcript(commands):
    text = ""
    for words in commands:
        answer = forebay(*words)
        text += f"$ forebay {' '.join(words)}\n{answer.out}{answer.err}"
        text += f"[exit code {answer.code}]\n" if answer.code else ""
    return text


def main():
    update = "--update" in sys.argv
    faults = 0
    for name, commands in CASES.items():
        path = GOLDEN / f"{name}.txt"
        got = transcript(commands)
        if update:
            path.write_text(got)
            continue
        wanted = path.read_text() if path.exists() else ""
        if got != wanted:
            faults += 1
            lines = difflib.unified_diff(wanted.splitlines(), got.splitlines(), str(path), "now", lineterm="")
            print("\n".join(lines))
    stray = {p.stem for p in GOLDEN.glob("*.txt")} - set(CASES)
    if stray:
        print(f"no case for golden/{', '.join(sorted(stray))}")
    if faults:
        print(f"{faults} of {len(CASES)} differ; if that is wanted: {sys.argv[0]} {sys.argv[1]} --update")
    return 1 if faults or stray else 0


if __name__ == "__main__":
    sys.exit(main())
