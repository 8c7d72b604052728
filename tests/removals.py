#!/usr/bin/env python3
"""Lists everything in src/ that removes something or puts it in the place of something, and fails where that does not ask
store::may_replace() (src/store/may_replace.h) and is not known to touch names of Forebay's own alone.

Usage: removals.py [SOURCE_DIR]
"""

import re
import sys
from pathlib import Path

# rename_new() is not among them: it replaces nothing.
CALL = re.compile(
    r"(?<![\w.>:])(?:::|fs::|store::|std::filesystem::)?(?:unlinkat|unlink|rmdir|remove_all|remove_tree|renameat2?|rename"
    r"|rename_over|exchange_names)\((?!const|int )|std::rename\(|(?:fs|filesystem|std)::remove\(|\bO_TRUNC\b"
)
ASKS = re.compile(r"\b(?:may_replace|may_replace_at|check_own_file|check_free|check_place|is_own_directory)\(")

# Files that ask, with the number of places in them.
ASKING = {
    "cli/daemon.cc": 3,  # a file with an address or a process number, named by the user, and its temporary
    "convert/target/new_target.cc": 3,  # what convert, read, extract, report and config generate write
    "io/method/container_method.cc": 2,  # subfiles of a file that was replaced; a directory that was made for them
    "io/method/shared_file.cc": 3,  # a file that a program writes, and what a writer left that died
    "io/method/subfiles.cc": 2,
    "launch/gather/put_back.cc": 1,  # what an interrupted restart left; all that it puts somewhere, it puts where nothing is
    "job/rendezvous/job_directories.cc": 9,  # jobs that have ended
    "launch/scr/flushing.cc": 1,  # lists of sets on their way to the prefix, in a directory that it made
    "scr/prefix_files.cc": 5,  # SCR_PREFIX_SIZE, SCR_PREFIX_PURGE; files that are copied to the prefix
    "store/safe_tree.cc": 3,  # restore
}

# Files that touch names of their own alone: why nobody else's can be meant.
OWN = {
    "cli/doctor_try.cc": (3, "files in a directory that it has just made under a random name"),
    "cli/lockd.cc": (1, "the file with the server's address, which it wrote"),
    "cli/run.cc": (2, "directories of the job that it made itself, the second one only if it is empty"),
    "cli/shared_directory.cc": (1, "an empty file that it has just made under a random name"),
    "cli/temporary_directory.h": (1, "a directory that it has just made under a random name"),
    "fabric/credentials.cc": (1, "a secret that could not be written"),
    "fabric/listening.cc": (1, "sockets that it made"),
    "fabric/socket.cc": (1, "a socket on which nobody listens"),
    "io/hdf5/lock.cc": (1, "NAME.part of a writer that died"),
    "io/hdf5/plugin.cc": (3, "the file that a program writes, and its NAME.part"),
    "io/staging/reused_files.cc": (3, "files in a private directory whose lock it holds"),
    "io/staging/stage_place.cc": (7, "what lies in a private directory of the user, mode 0700, whose lock it holds"),
    "job/client/client.cc": (5, "a marker in the stage's notes, under a hidden name first; what a rank wrote of a set that it gives up"),
    "launch/gather/copy_file.cc": (1, "a copy that it has just made where nothing was"),
    "launch/gather/take.cc": (1, "a hidden name with a random token in the stage"),
    "job/decisions/decision_log.cc": (3, "numbered and hidden files of its own in a directory of its own name, and that if it is empty"),
    "job/rendezvous/lease.cc": (1, "a file of its own that tells the file system's time"),
    "job/rendezvous/rendezvous.cc": (7, "files of its own names, a directory only if it is empty"),
    "job/rendezvous/series_claim.cc": (3, "leases"),
    "scr/session_output.cc": (1, "its list of a set's files"),
    "store/files.cc": (11, "the functions themselves, and hidden names with a random token"),
    "store/posix_backend.cc": (9, "staging names, whose lock it holds; sets, which removal.cc has asked for; notes of sets that were set aside"),
    "store/staging.cc": (6, "staging names, whose lock it holds"),
}

# A stage's own rules: what was drained, and what Forebay noted beside it.
OF_STAGES = ("job/agent/", "job/cache/", "job/delivery/", "job/stage/")


def calls(source):
    found = {}
    for path in sorted(source.rglob("*")):
        if path.suffix not in {".cc", ".h"} or re.search(r"_(test|fuzz)\.cc$|/test_|/testing", str(path)):
            continue
        lines = [line.split("//")[0] for line in path.read_text(encoding="utf-8").splitlines()]
        at = [number for number, line in enumerate(lines, 1) for _ in CALL.finditer(line)]
        if at:
            found[str(path.relative_to(source))] = (at, "\n".join(lines))
    return found


def main():
    source = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent) / "src"
    problems = []
    found = calls(source)
    for name, (at, text) in found.items():
        if name.startswith(OF_STAGES):
            continue
        known = ASKING.get(name, OWN.get(name, (0,))[0])
        if len(at) != known:
            problems.append(f"src/{name} removes or replaces in {len(at)} places (lines {at}), {known} are known: "
                            "let it ask may_replace(), and note it in tests/removals.py")
        if name in ASKING and not ASKS.search(text):
            problems.append(f"src/{name} does not ask may_replace()")
    for name in ASKING | OWN:
        if name not in found:
            problems.append(f"src/{name} removes nothing any more: take it out of tests/removals.py")
    for problem in problems:
        print(problem)
    print(f"{sum(len(at) for at, _ in found.values())} places in {len(found)} files remove or replace something")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
