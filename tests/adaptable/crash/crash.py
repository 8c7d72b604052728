#!/usr/bin/python3
"""kill -9, full disks and errors at system calls of ranks that write by the methods of adaptable I/O.

usage: crash.py KILL_AT CRASH_RANKS FOREBAY [MOST [CASE...]]

One rank or all of them are interfered with at MOST instants at most of each operation (default 2; 0 means at every
system call that changes a file, which takes minutes). What has to hold afterwards is in Case.check() and below.
"""

import concurrent.futures
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile

KILL_AT, RANKS_PROGRAM, FOREBAY = (os.path.abspath(path) for path in sys.argv[1:4])
MOST = int(sys.argv[4]) if len(sys.argv) > 4 else 2
ONLY = sys.argv[5:]
RANKS = 3
SECONDS = 60
BLOCK = 20000  # values
LARGE = 530000  # of a block that is written before the close, where it was announced
WRONG_EXIT = (126, 127)


class Failure(Exception):
    pass


def expect(condition, what):
    if not condition:
        raise Failure(what)


class Outcome:
    """What the ranks said: failures by rank, and who came to an end."""

    def __init__(self, outputs):
        self.failures = {rank: [] for rank in range(RANKS)}
        self.done = set()
        self.text = "".join(outputs)
        for line in self.text.splitlines():
            rank, _, said = line.partition(" ")
            if not rank.isdigit():
                continue
            if said == "done":
                self.done.add(int(rank))
            else:
                self.failures[int(rank)].append(said)

    def is_good(self):
        return len(self.done) == RANKS and not any(self.failures.values())

    def succeeded(self):
        """Ranks that came to the end and heard of no failure."""
        return {rank for rank in self.done if not self.failures[rank]}


def settings(**values):
    return [f"{name}={value}" for name, value in values.items()]


def run_threads(directory, words, interference=None):
    command = [RANKS_PROGRAM, "write", f"threads={RANKS}", *words]
    if interference is not None:
        command = [KILL_AT, *interference, "--", *command]
    done = subprocess.run(command, cwd=directory, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="replace", timeout=SECONDS, check=False)
    expect(done.returncode not in WRONG_EXIT, done.stderr)
    return Outcome([done.stdout]), done.stderr


def run_processes(directory, words, victim, interference):
    pairs = {}
    for low in range(RANKS):
        for high in range(low + 1, RANKS):
            pairs[low, high] = socket.socketpair()
    processes = []
    try:
        for rank in range(RANKS):
            mine = [pairs[min(rank, other), max(rank, other)][rank > other].fileno() if other != rank else -1
                    for other in range(RANKS)]
            command = [RANKS_PROGRAM, "write", f"rank={rank}", "sockets=" + ",".join(map(str, mine)), *words]
            if rank == victim:
                command = [KILL_AT, *interference, "--", *command]
            processes.append(subprocess.Popen(command, cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                              stderr=subprocess.PIPE, text=True, errors="replace",
                                              pass_fds=[fd for fd in mine if fd >= 0]))
    finally:
        for pair in pairs.values():
            for end in pair:
                end.close()
    try:
        outputs = [process.communicate(timeout=SECONDS) for process in processes]
    except subprocess.TimeoutExpired:
        for process in processes:
            process.kill()
        raise Failure("the ranks hang") from None
    return Outcome([out for out, _ in outputs]), "".join(err for _, err in outputs)


def command(*words, cwd):
    done = subprocess.run([FOREBAY, *words], cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="replace", timeout=SECONDS, check=False)
    expect(0 <= done.returncode < 20, f"forebay {words} exits with {done.returncode}: {done.stderr}")
    return done.returncode, done.stdout + done.stderr


class Case:
    """A method that writes containers; the others differ in how they are looked at."""

    file = "run.bp"
    replaces_with_w = True

    def __init__(self, name, method, mode, **more):
        self.name, self.mode = f"{name}.{mode}", mode
        self.method = method
        self.more = {"count": BLOCK, **more}
        self.writes = int(self.more.get("writes", 1))

    def words(self, mode, first, steps=1):
        return settings(method=self.method, file=self.file, mode=mode, first=first, steps=steps, **self.more)

    def steps(self, directory):
        """By step, the numbers that each rank wrote; all values are checked."""
        done = subprocess.run([RANKS_PROGRAM, "check", self.file], cwd=directory, capture_output=True, text=True,
                              timeout=SECONDS, check=False)
        expect(done.returncode == 0, f"the file cannot be read: {done.stderr}")
        found = {}
        for line in done.stdout.splitlines():
            step, rank, number = map(int, line.split())
            found.setdefault(step, {}).setdefault(rank, []).append(number)
        return [found[step] for step in sorted(found)]

    def whole(self, number):
        return {rank: [number] * self.writes for rank in range(RANKS)}

    def prepare(self, directory):
        outcome, _ = run_threads(directory, self.words("w", 1, 2))
        expect(self.accepts(outcome), f"without interference: {outcome.text}")
        expect(self.steps(directory) == [self.whole(1), self.whole(2)], "without interference the file is not as it should be")

    def accepts(self, outcome):
        return outcome.is_good()

    def check(self, directory, outcome, sort):
        before = [self.whole(1), self.whole(2)]
        found = self.steps(directory)
        if self.mode == "w":
            is_new = found == [self.whole(3)]
            expect(is_new or found == before, f"what is in the place of the last good file is {found}")
        else:
            expect(found[:2] == before and len(found) <= 3, f"the steps are {found}")
            is_new = found[2:] == [self.whole(3)]
        self.check_told(outcome, sort, is_new)
        self.check_repair(directory, found)
        self.check_next(directory)

    def check_told(self, outcome, sort, is_new):
        expect(is_new or not outcome.succeeded(),
               f"the step is not whole, and ranks {sorted(outcome.succeeded())} heard of no failure: {outcome.text}")
        if sort == "kill":
            return
        expect(len(outcome.done) == RANKS, f"not all ranks came to an end: {outcome.text}")
        expect(not outcome.succeeded() or outcome.is_good(), f"some ranks heard of a failure, some did not: {outcome.text}")
        for rank in range(RANKS):
            for said in outcome.failures[rank]:
                expect(int(said.split()[1]) < 0 and len(said) > 20, f"rank {rank} was told {said!r}")

    def check_repair(self, directory, found):
        code, text = command("info", self.file, cwd=directory)
        expect(code == 0, f"info: {text}")
        for name in sorted(os.listdir(directory)):
            if name.endswith(".part"):
                code, text = command("info", name, cwd=directory)
                expect(code == 0 or "next step" in text or ".part" in text, f"info {name}: {text}")
                command("repair", name, cwd=directory)
        code, text = command("repair", self.file, cwd=directory)
        expect(code in (0, 5), f"repair: {text}")
        now = self.steps(directory)
        expect(now[:len(found)] == found or now[:2] == found[:2], f"repair made {now} of {found}")

    def check_next(self, directory):
        before = self.steps(directory)
        outcome, _ = run_threads(directory, self.words("a", 4))
        expect(self.accepts(outcome), f"the next append: {outcome.text}")
        expect(self.steps(directory) == before + [self.whole(4)], f"after the next append: {self.steps(directory)}")
        outcome, _ = run_threads(directory, self.words("w", 5))
        expect(self.accepts(outcome), f"the next new file: {outcome.text}")
        expect(self.steps(directory) == [self.whole(5)], "after the next new file it is not as it should be")
        left = [os.path.join(at, name) for at, _, names in os.walk(directory) for name in names if name.endswith(".part")]
        expect(not left, f"{left} stay for ever")


class Refusing(Case):
    """What does not fit into the buffer is refused with -103, and the rest is written."""

    def whole(self, number):
        return {rank: [number] for rank in range(RANKS)}

    def accepts(self, outcome):
        return len(outcome.done) == RANKS and all(" -103 " in said for all in outcome.failures.values() for said in all)

    def check_told(self, outcome, sort, is_new):
        for rank in range(RANKS):
            outcome.failures[rank] = [said for said in outcome.failures[rank] if " -103 " not in said]
        super().check_told(outcome, sort, is_new)


class Hdf5(Case):
    file = "run.h5"

    def steps(self, directory):
        import h5py
        import numpy
        found = []
        try:
            with h5py.File(os.path.join(directory, self.file), "r") as file:
                for number in range(1 + sum(name.startswith("step_") for name in file)):
                    at = file if number == 0 else file[f"step_{number}"]
                    found.append(at["x"][()])
        except (OSError, KeyError, RuntimeError, ValueError) as error:
            raise Failure(f"the file cannot be read: {error}") from None
        steps = []
        for x in found:
            parts = numpy.split(x, RANKS)
            steps.append({rank: [int(part[0]) // 10**9] for rank, part in enumerate(parts)})
            for rank, part in enumerate(parts):
                first = int(part[0]) // 10**9 * 10**9 + rank * 10**7
                expect((part == numpy.arange(BLOCK) + first).all(), "a block has other values")
        return steps

    def check(self, directory, outcome, sort):
        if self.mode == "w" or sort != "kill":
            return super().check(directory, outcome, sort)
        # An append can damage the file when it is killed, as with every HDF5 file; nobody may take it for whole.
        try:
            found = self.steps(directory)
        except Failure:
            found = []
        self.check_told(outcome, sort, found == [self.whole(number) for number in (1, 2, 3)])
        return None

    def check_repair(self, directory, found):
        pass


class Sets(Case):
    """The method FOREBAY: each step is a set of a store."""

    def __init__(self, name, mode, **more):
        super().__init__(name, "FOREBAY:store=store;stage=stage;profile=fast;threads=1", mode, **more)

    def prepare(self, directory):
        os.mkdir(os.path.join(directory, "stage"))
        outcome, _ = run_threads(directory, self.words("w", 1, 2))
        expect(outcome.is_good(), f"without interference: {outcome.text}")
        expect(len(self.sets(directory)) == 2, "without interference the sets are not there")

    def sets(self, directory):
        code, text = command("verify", "store", cwd=directory)
        expect(code == 0, f"verify: {text}")
        return {one["name"] for one in json.loads(command("ls", "store", "--json", cwd=directory)[1])["sets"]}

    def check(self, directory, outcome, sort):
        before = self.sets(directory)
        expect(len(before) in (2, 3), f"the sets are {before}")
        if sort != "kill":
            expect(len(outcome.done) == RANKS, f"not all ranks came to an end: {outcome.text}")
            expect(len(before) == 3 or not outcome.is_good(), "the set is not in the store, and nobody heard of it")
            closed = [any(said.startswith(("open", "close")) for said in outcome.failures[rank]) for rank in range(RANKS)]
            expect(len(set(closed)) == 1, f"some ranks heard of a failure, some did not: {outcome.text}")
        # The next run stores what was staged whole.
        outcome, _ = run_threads(directory, self.words(self.mode, 4))
        expect(outcome.is_good(), f"the next run: {outcome.text}")
        now = self.sets(directory)
        # One that had been stored, and was still staged when the run was killed, is stored once more.
        expect(before < now and len(now) in (3, 4, 5), f"after the next run the sets are {now}, before {before}")
        for name in now:
            code, text = command("restore", name, "--store", "store", "--to", "back", "--overwrite", cwd=directory)
            expect(code == 0, f"restore: {text}")
            for rank in range(RANKS):
                path = os.path.join(directory, "back", f"rank{rank:06}.pg")
                done = subprocess.run([RANKS_PROGRAM, "check", path], capture_output=True, text=True, timeout=SECONDS, check=False)
                expect(done.returncode == 0, f"{name}: {done.stderr}")
        expect(os.listdir(os.path.join(directory, "stage")) in ([], [f"forebay-io-{os.geteuid()}"]), "the stage is not empty")


def count_calls(case, template, scratch, victim):
    """How many system calls change files in the run of a case, at the victim."""
    directory = tempfile.mkdtemp(prefix="count.", dir=scratch)
    shutil.copytree(template, directory, symlinks=True, dirs_exist_ok=True)
    report = directory + ".report"
    words = case.words(case.mode, 3)
    if victim is None:
        outcome, _ = run_threads(directory, words, ("--report", report))
    else:
        outcome, _ = run_processes(directory, words, victim, ("--report", report))
    expect(case.accepts(outcome), f"counting: {outcome.text}")
    with open(report) as file:
        return json.load(file)["calls"]


def interferences(case, template, scratch):
    """(sort, victim, at, of): which sort of thing happens to whom at which call. No victim: to all ranks."""
    calls_of = {victim: count_calls(case, template, scratch, victim) for victim in (None, 0, 1)}
    for number, (sort, victim) in enumerate((("kill", None), ("kill", 0), ("kill", 1), ("full", None), ("full", 0), ("full", 1),
                                             ("EIO", 0), ("EIO", 1))):
        calls = calls_of[victim]
        stride = max(1, -(-calls // MOST)) if MOST else 1
        shift = sum(case.name.encode()) + number  # other calls for each, so that together they meet many
        for at in range(1 + shift % stride, calls + 1, stride):
            yield sort, victim, at, calls


def interfere(case, template, scratch, sort, victim, at, calls):
    directory = tempfile.mkdtemp(prefix=f"{case.name}.", dir=scratch)
    shutil.copytree(template, directory, symlinks=True, dirs_exist_ok=True)
    report = directory + ".report"
    words = case.words(case.mode, 3)
    how = {"kill": ("--kill", str(at)), "full": ("--full-from", str(at))}.get(sort, ("--fail", sort, "--at", str(at)))
    how = (*how, "--report", report)
    said = None
    try:
        if victim is None:
            outcome, said = run_threads(directory, words, how)
        else:
            outcome, said = run_processes(directory, words, victim, how)
        case.check(directory, outcome, sort)
    except (Failure, subprocess.TimeoutExpired) as failure:
        call = open(report).read().strip() if os.path.exists(report) else "no report"
        who = "all ranks" if victim is None else f"rank {victim}"
        raise Failure(f"{case.name}: {sort} of {who} at call {at} of {calls} {call}: {failure}; said {said!r}") from None
    shutil.rmtree(directory)


def run_case(case, scratch):
    template = os.path.join(scratch, case.name)
    os.mkdir(template)
    failures, runs = [], 0
    try:
        case.prepare(template)
        for one in interferences(case, template, scratch):
            runs += 1
            try:
                interfere(case, template, scratch, *one)
            except Failure as failure:
                failures.append(str(failure))
                if MOST:
                    break
    except Failure as failure:
        failures.append(f"{case.name}: {failure}")
    print(f"{case.name}: {runs} interferences, {len(failures)} failures", flush=True)
    return failures


def cases():
    spilling = {"writes": 3, "limit": 400_000}
    for mode in "wa":
        yield Case("POSIX", "POSIX", mode)
        yield Case("POSIX.spilling", "POSIX", mode, **spilling)
        yield Case("MPI", "MPI", mode)
        yield Refusing("MPI.refusing", "MPI", mode, writes=2, limit=200_000)
        yield Case("MPI.slots", "MPI", mode, count=LARGE, announce=8 * LARGE)
        yield Case("MPI.durable", "MPI:sync=1", mode)
        yield Case("MPI_AGGREGATE", "MPI_AGGREGATE:num_aggregators=2", mode)
        yield Sets("FOREBAY", mode)
        if os.path.exists(os.path.join(os.path.dirname(FOREBAY), "..", "lib", "forebay", "methods")):
            yield Hdf5("PHDF5", "PHDF5", mode)


def main():
    # In memory where possible: killing a process tests no disk.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="forebay-crash-", dir=memory) as scratch:
        chosen = [case for case in cases() if not ONLY or any(case.name.startswith(name) for name in ONLY)]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            failures = [failure for found in pool.map(lambda case: run_case(case, scratch), chosen) for failure in found]
    for failure in failures[:40]:
        print("FAILED:", failure)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
