#!/usr/bin/python3
"""Runs one program of tests/mpiio under an MPI, in a directory of its own, and tells whether it found errors.

usage: run.py --mpi mpich|openmpi --mpiexec PATH [--layer LIB] [--preload LIB]... [--env NAME=VALUE]... [--ranks N]
              [--timeout SECONDS] [--server LOCK_SERVER] [--expect-failure] PROGRAM [ARGUMENT]...

The first argument that the program gets is the path of a file that it may make. It has to print " No Errors" and to
return zero. --layer is libforebay_mpiio.so: the run fails if it stays out of work. --server: a lock server is started
for the run, and its process is told as SERVER_PID. --expect-failure: the program has to
find errors, which proves that it can.
"""

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile

INACTIVE = "forebay: files are not made atomic"


def parse():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--mpi", required=True)
    parser.add_argument("--mpiexec", required=True)
    parser.add_argument("--layer")
    parser.add_argument("--preload", action="append", default=[])
    parser.add_argument("--env", action="append", default=[])
    parser.add_argument("--ranks", type=int, default=3)
    parser.add_argument("--timeout", type=int, default=120)
    parser.add_argument("--server")
    parser.add_argument("--expect-failure", action="store_true")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    return parser.parse_args()


def environment(options, directory):
    """The layer's variables of whoever runs the tests must not change them."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("FOREBAY_", "LD_PRELOAD"))}
    env.update(item.split("=", 1) for item in options.env)
    env["TMPDIR"] = directory  # for what the MPI leaves behind
    preload = options.preload + ([options.layer] if options.layer else [])
    if preload:
        env["LD_PRELOAD"] = ":".join(preload)
    return env


def launcher(options):
    command = [options.mpiexec, "-n", str(options.ranks)]
    if options.mpi == "openmpi":
        command[1:1] = ["--oversubscribe", "--mca", "btl_base_warn_component_unused", "0"]
        if os.geteuid() == 0:
            command[1:1] = ["--allow-run-as-root"]
    return command


@contextlib.contextmanager
def lock_server(options, directory):
    """What the environment has to have for the server that was asked for."""
    if not options.server:
        yield {}
        return
    socket, secret = os.path.join(directory, "locks"), os.path.join(directory, "secret")
    with subprocess.Popen([options.server, socket, secret], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        server.stdout.readline()
        yield {"FOREBAY_LOCK_SERVERS": "unix:" + socket, "FOREBAY_LOCK_SECRET": secret, "SERVER_PID": str(server.pid)}
        server.kill()


def run(options, directory, variables):
    """Returns the code and the output; everything that was started is ended."""
    program, *arguments = options.command
    command = launcher(options)
    command += [program, os.path.join(directory, "file"), *arguments]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               env=environment(options, directory) | variables, start_new_session=True, text=True, errors="replace")
    try:
        output, _ = process.communicate(timeout=options.timeout)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            output, _ = process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
        return None, output


def fault(options, code, output):
    if code is None:
        return f"still running after {options.timeout} s"
    if options.layer and INACTIVE in output:
        return "the layer is not active"
    good = code == 0 and " No Errors" in output
    if options.expect_failure:
        return "found no errors, though it should" if good else None
    return None if good else f"exit code {code}"


def main():
    options = parse()
    directory = tempfile.mkdtemp(prefix="mpiio.")
    try:
        with lock_server(options, directory) as variables:
            code, output = run(options, directory, variables)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    print(output[-8000:])
    why = fault(options, code, output)
    if why:
        print(f"FAILED: {why}")
    return 1 if why else 0


if __name__ == "__main__":
    sys.exit(main())
