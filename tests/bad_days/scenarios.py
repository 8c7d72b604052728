"""What the programs of scenarios share: the list of them, and the command line PROGRAM FOREBAY LIBFOREBAY SCENARIO|--list.
"""

import os
import subprocess
import sys
import traceback

import client
from job import Failure, Job

SKIP = 77  # the exit code

SCENARIOS = {}


class Skip(Exception):
    pass


def needs(variable):
    if not os.environ.get(variable):
        raise Skip(f"${variable} is not given")
    return os.environ[variable]


def scenario(function):
    SCENARIOS[function.__name__] = function
    return function


def mount_small(directory, size):
    if os.geteuid() != 0:
        raise Skip("only root can mount a small file system")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=0755", "none", directory]).returncode != 0:
        raise Skip("no file system can be mounted here")


def main():
    if sys.argv[-1] == "--list":
        print("\n".join(SCENARIOS))
        return
    forebay, library, name = sys.argv[1:]
    loaded = client.Library(library)
    try:
        SCENARIOS[name](lambda **words: Job(forebay, loaded, **words))
    except Skip as reason:
        print(f"skipped: {reason}")
        sys.exit(SKIP)
    except (Failure, AssertionError, client.CallFailed):
        traceback.print_exc()
        sys.exit(1)
