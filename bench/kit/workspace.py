"""Temporary directories, the real data sets, and the comparison of what came back with what went in."""
import collections
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SOURCE_DIR = Path(__file__).resolve().parents[2]
CHUNK = 1 << 20


@dataclass(frozen=True)
class DataSet:
    name: str
    path: Path
    ranks: int
    raw_bytes: int


def data_directory():
    return Path(os.environ.get("FOREBAY_DATA", SOURCE_DIR.parent / "shared" / "data"))


@contextmanager
def work_directory(parent="/dev/shm"):
    """A new directory, removed at the end: also when the script is interrupted or terminated."""
    def leave(number, _):
        sys.exit(128 + number)
    signal.signal(signal.SIGTERM, leave)
    signal.signal(signal.SIGHUP, leave)
    path = Path(tempfile.mkdtemp(prefix="forebay-bench-", dir=parent if os.path.isdir(parent) else None))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def files_below(path):
    return sorted(entry for entry in Path(path).rglob("*") if entry.is_file() and not entry.is_symlink())


def bytes_below(path):
    return sum(file.stat().st_size for file in files_below(path))


def describe(name, path):
    """The set below `path`; its ranks are counted as the largest family of names that differ in digits only."""
    files = files_below(path)
    families = collections.Counter(re.sub(r"\d+", "#", file.name) for file in files)
    return DataSet(name, Path(path), max(families.values()), bytes_below(path))


def archives():
    return sorted(data_directory().glob("*.tar.zst"))


def unpack(archive, into):
    """Unpacks one archive CASE-DDnnnn.tar.zst, which holds CASE/DDnnnn/."""
    name = archive.name.removesuffix(".tar.zst")
    target = Path(into) / name
    target.mkdir(parents=True)
    subprocess.run(["tar", "--zstd", "-xf", archive, "-C", target], check=True)
    case, step = name.rsplit("-", 1)
    return describe(name, target / case / step)


def simulated(programs, into, name="mini-sim", ranks=8, cells=64, steps=120, words=()):
    """The last dump of the example simulation, for where the real sets are not at hand or have no such data."""
    target = Path(into) / name
    mpiexec = shutil.which("mpiexec.mpich") or "mpiexec"
    subprocess.run([mpiexec, "-n", str(ranks), programs / "forebay-mini-sim", "--cells", str(cells), "--steps",
                    str(steps), "--every", str(steps), "--out", target, *words], check=True, stdout=subprocess.DEVNULL)
    return describe(name, sorted(target.iterdir())[-1])


def data_sets(programs, into, wanted=None):
    """Unpacks the real sets whose names contain one of `wanted`; a simulated one if there are none at all."""
    found = archives()
    if not found:
        print(f"no archives in {data_directory()} (set FOREBAY_DATA); taking a simulated set", file=sys.stderr)
        return [simulated(programs, into)]
    chosen = [archive for archive in found if not wanted or any(word in archive.name for word in wanted)]
    return [unpack(archive, into) for archive in chosen]


def _same_content(a, b):
    with open(a, "rb") as left, open(b, "rb") as right:
        while True:
            x, y = left.read(CHUNK), right.read(CHUNK)
            if x != y:
                return False
            if not x:
                return True


def difference(before, after, metadata=True):
    """None if two files or directory trees are alike: names, bytes and, if wanted, mode and modification time."""
    before, after = Path(before), Path(after)
    if before.is_file():
        return None if _same_content(before, after) else f"{after} differs from {before}"
    names = [sorted(str(path.relative_to(root)) for path in root.rglob("*")) for root in (before, after)]
    if names[0] != names[1]:
        return f"{after} has other names than {before}"
    for name in names[0]:
        a, b = before / name, after / name
        x, y = a.lstat(), b.lstat()
        if stat.S_IFMT(x.st_mode) != stat.S_IFMT(y.st_mode):
            return f"{b} is of another kind"
        if not stat.S_ISREG(x.st_mode):
            continue
        if metadata and (x.st_mode, x.st_mtime_ns) != (y.st_mode, y.st_mtime_ns):
            return f"{b} has another mode or time"
        if not _same_content(a, b):
            return f"{b} has other bytes"
    return None


def remove(*paths):
    for path in paths:
        if os.path.isdir(path):
            shutil.rmtree(path)
        elif os.path.lexists(path):
            os.unlink(path)
