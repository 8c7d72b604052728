"""What a store of many sets costs: sets.py FOREBAY [COUNT...] (default 250 5000).

Makes a store with COUNT tiny sets in $TMPDIR by copying one packed set under other names, and counts the system calls
(strace) and the seconds of commands that look at all sets: the newest one, one by name, removing all but one. Each
figure is printed as a line of JSON.
"""

import ctypes
import ctypes.util
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time


class Hash128(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


XXHASH = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0")
XXHASH.XXH3_128bits.restype = Hash128
XXHASH.XXH3_128bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


def sealed(tag, body):
    """A text of docs/store.md, "Sealed text"."""
    text = (json.dumps(body, indent=2) + "\n").encode()
    digest = XXHASH.XXH3_128bits(text, len(text))
    return f"{tag} {digest.high:016x}{digest.low:016x}\n".encode() + text


def make_source(path):
    os.makedirs(path)
    for rank in range(2):
        header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (300,), }".ljust(117) + b"\n"
        with open(os.path.join(path, f"dump.{rank:04}.npy"), "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
            file.write(struct.pack("<300d", *(rank + i / 7 for i in range(300))))


def make_store(forebay, directory, count):
    """A store of COUNT sets, each with the container of the first one, and with a step of its own."""
    source, store = os.path.join(directory, "source"), os.path.join(directory, "store")
    if not os.path.exists(source):
        make_source(source)
    shutil.rmtree(store, ignore_errors=True)
    subprocess.run([forebay, "pack", source, "--store", store, "--name", "seed", "--step", "0"], check=True,
                   stdout=subprocess.DEVNULL)
    seed = os.path.join(store, "sets", "seed")
    with open(os.path.join(seed, "manifest"), encoding="utf-8") as file:
        manifest = json.loads(file.read().split("\n", 1)[1])
    for number in range(1, count):
        name = f"dump.{number:06}"
        made = os.path.join(store, "sets", name)
        os.mkdir(made)
        for container in manifest["containers"]:
            os.link(os.path.join(seed, container["name"]), os.path.join(made, container["name"]))
        body = dict(manifest, name=name, application_name=name, step=number,
                    created_ns=manifest["created_ns"] + number * 10 ** 9)
        with open(os.path.join(made, "manifest"), "wb") as file:
            file.write(sealed("forebay-manifest", body))
    return source, store


def calls_of(command):
    """How many system calls a command makes, of all kinds and those that open files."""
    with tempfile.NamedTemporaryFile(mode="r", suffix=".strace") as report:
        subprocess.run(["strace", "-f", "-c", "-o", report.name, *command], check=True, stdout=subprocess.DEVNULL)
        rows = [line.split() for line in report.read().splitlines()]
    counts = {row[-1]: int(row[3]) for row in rows if len(row) >= 5 and re.fullmatch(r"\d+", row[3])}
    return {"calls": sum(n for name, n in counts.items() if name != "total"), "opens": counts.get("openat", 0)}


def seconds_of(command):
    start = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return round(time.monotonic() - start, 4)


def measure(forebay, directory, count):
    source, store = make_store(forebay, directory, count)
    time.sleep(2.5)  # a listing is taken at its word only where the sets have been still for two seconds
    back = os.path.join(directory, "back")

    def report(what, command, prepare=lambda: None):
        prepare()
        seconds = seconds_of(command)
        prepare()
        print(json.dumps({"what": what, "sets": count, "seconds": seconds, **calls_of(command)}), flush=True)

    restore = [forebay, "restore", "latest", "--store", store, "--to", back, "--overwrite"]
    report("restore latest, first", restore, lambda: remove(os.path.join(store, "listing")))
    report("restore latest, again", restore)
    report("restore by name", [forebay, "restore", "seed", "--store", store, "--to", back, "--overwrite"])
    report("ls", [forebay, "ls", store])
    report("verify one", [forebay, "verify", store, "seed"])
    number = iter(range(100))

    def pack(*words):
        return [forebay, "pack", source, "--store", store, "--name", f"new{next(number)}", *words]

    for what, words in (("pack", ()), ("pack --parent latest", ("--parent", "latest")),
                        ("pack --profile max", ("--profile", "max"))):
        seconds = seconds_of(pack(*words))
        print(json.dumps({"what": what, "sets": count, "seconds": seconds, **calls_of(pack(*words))}), flush=True)
    prune = [forebay, "prune", store, "--keep-last", "1"]
    report("prune to 1", prune, lambda: make_store(forebay, directory, count))


def remove(path):
    if os.path.exists(path):
        os.remove(path)


def main():
    forebay = os.path.abspath(sys.argv[1])
    for count in [int(text) for text in sys.argv[2:]] or [250, 5000]:
        with tempfile.TemporaryDirectory(prefix="forebay-sets-") as directory:
            measure(forebay, directory, count)


if __name__ == "__main__":
    main()
