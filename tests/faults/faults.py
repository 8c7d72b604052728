#!/usr/bin/python3
"""A failing system call in every command and method that writes: faults.py BUILD [--all] [--list] [CASE...]

Each case of cases.py is a command in a directory of its own. It is run once without a fault, then again and again, each
time with another one of the system calls that change something below that directory failing (with EIO, with ENOSPC, and
with a disk that is full from there on; tests/crash has what makes them fail). After each run:

- the command has not been ended by a signal, and calls nothing an internal error;
- what it was to make or to change is as it was before, or as it is without a fault: read back with the tools of its form;
- the exit code is 0 only if it is as without a fault;
- everything else in the directory is untouched, byte for byte;
- the same command without a fault succeeds next, and nothing is left that is not there without a fault.

By default a few system calls of each case and sort of fault are made to fail, spread evenly; with --all each one.
CASE is the beginning of a case's name."""

import argparse
import concurrent.futures
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "crash"))
import harness  # noqa: E402
from harness import Failure, expect  # noqa: E402

# Where what was done cannot be undone any more: the name is there, and the command says what may be lost.
LATE = ("fsync", "close", "unlink")


def check_fault(case, bed, result, old, new):
    expect(result.signal == 0, "it was ended by a signal")
    expect(result.exit_code != 70, "it calls this an internal error")
    code = case.code(result)
    found = case.content(bed.path("work"))
    expect(case.is_whole(found, old, new), f"neither old nor new: {case.difference(found, old, new)}")
    expect(code != 0 or found == new, f"exit code 0, and not as without a fault: {case.difference(found, old, new)}")
    expect(code == 0 or case.says(result), "it fails without a word")
    if code != 0 and found == new and old != new:
        expect(result.interfered in case.late, "it is as without a fault, and the exit code says otherwise")
    return found


def check_next(case, bed, found, old, new, names):
    work, command = bed.path("work"), case.next(found == new)
    if not command:
        return
    result = bed.run(command, ("--under", work), cwd=work)
    code = case.code(result)
    may_refuse = found != old and case.refuses_twice
    expect(code == 0 or (may_refuse and code == case.refuses_twice),
           f"the next run exits with {code}: {result.stdout}{result.stderr}")
    after = case.content(work)
    expect(after == found if code else case.is_right_next(after, found, old, new),
           f"after the next run it is not as without a fault: {case.difference(after, old, new)}")
    left = case.names(work) - names
    expect(not left or code != 0, f"left behind: {sorted(left)}")


def faults_of(case, calls, most):
    """(sort, number of the call), spread evenly; other calls for each sort and case."""
    for number, sort in enumerate(case.sorts):
        stride = max(1, -(-calls // most)) if most else 1
        for at in range(1 + (sum(case.name.encode()) + number * (stride // 2 + 1)) % stride, calls + 1, stride):
            yield sort, at


def run_case(case, build, all_calls):
    """The number of faults, and the failures."""
    failures, begun = [], time.monotonic()
    with harness.Harness(os.path.join(build, "bin/kill_at")) as bed:
        template, work = bed.path("template"), bed.path("work")
        os.mkdir(template)
        try:
            case.prepare(template)
            case.bystanders = case.untouched(template)
            bed.fresh("work", template)
            old = case.content(work)
            under = ("--under", os.path.join(work, case.under))
            clean = bed.run(case.command(), under, cwd=work)
            expect(case.code(clean) == 0 and clean.signal == 0, f"without a fault: {clean.stdout}{clean.stderr}")
            expect(clean.calls > 0, "it changes nothing")
            new, names = case.content(work), case.names(work)
            expect(old != new, "without a fault: it changes nothing that is looked at")
            expect(case.untouched(work) == case.bystanders, "without a fault: something else was changed")
        except Failure as failure:
            return 0, [f"{case.name}: {failure}"], 0
        runs = 0
        for sort, at in faults_of(case, clean.calls, 0 if all_calls else case.most):
            bed.fresh("work", template)
            how = ("--full-from", str(at)) if sort == "full" else ("--fail", sort, "--at", str(at))
            runs += 1
            result = None
            try:
                result = bed.run(case.command(), (*under, *how), cwd=work)
                found = check_fault(case, bed, result, old, new)
                expect(case.untouched(work) == case.bystanders, "something else was changed")
                check_next(case, bed, found, old, new, names)
            except Failure as failure:
                what = f"{result.interfered}, exit code {result.exit_code}, signal {result.signal}" if result else "no result"
                said = (case.said(result) if result else "").strip()
                failures.append(f"{case.name}: {sort} at call {at} of {clean.calls} ({what}): {failure}; said: {said[-400:]!r}")
        return runs, failures, time.monotonic() - begun


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("cases", nargs="*")
    options = parser.parse_intermixed_args()
    try:
        import case
        import cases
    except ImportError as missing:
        print(f"skipped: {missing}")
        sys.exit(77)
    build = os.path.abspath(options.build)
    with harness.Harness(os.path.join(build, "bin/kill_at")) as bed:
        fixture = case.Fixture(build, bed.path("fixture"))
        chosen = [case for case in cases.all_cases(fixture)
                  if not options.cases or any(case.name.startswith(name) for name in options.cases)]
        if options.list:
            print("\n".join(case.name for case in chosen))
            return
        runs, failures = 0, []
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            todo = {pool.submit(run_case, case, build, options.all): case for case in chosen}
            for done in concurrent.futures.as_completed(todo):
                count, failed, seconds = done.result()
                print(f"{todo[done].name}: {count} faults, {len(failed)} failures, {seconds:.1f} s", flush=True)
                runs += count
                failures += failed
    for failure in failures:
        print("FAILED:", failure)
    expect_runs = len(chosen) > 0 and runs >= len(chosen)
    print(f"{runs} faults in {len(chosen)} cases, {len(failures)} failures")
    sys.exit(0 if expect_runs and not failures else 1)


if __name__ == "__main__":
    main()
