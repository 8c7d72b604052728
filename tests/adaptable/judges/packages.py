"""The original: ADIOS 1.13 as Debian packages it, fetched when the tests run and kept in a cache directory."""

import os
import shutil
import subprocess
import tempfile

NAMES = ["libadios-dev", "libadios-mpich-dev", "libadios-bin", "libadios-examples"]
EXAMPLES = "usr/share/doc/libadios-examples/examples"
LIBRARIES = "usr/lib/x86_64-linux-gnu"


class Missing(Exception):
    """The packages are neither in the cache nor to be had."""


def _complete(directory):
    return os.path.isdir(os.path.join(directory, EXAMPLES)) and os.path.exists(
        os.path.join(directory, LIBRARIES, "adios/mpich/libadios.a"))


def unpacked(cache):
    """The directory into which the packages were unpacked; fetches them first if they are not there. Raises Missing."""
    target = os.path.join(cache, "adios-1.13")
    if _complete(target):
        return target
    os.makedirs(cache, exist_ok=True)
    work = tempfile.mkdtemp(dir=cache)
    try:
        _fetch(work)
        if not _complete(os.path.join(work, "x")):
            raise Missing("the packages of ADIOS lack what they had in version 1.13.1")
        try:
            os.rename(os.path.join(work, "x"), target)
        except OSError:
            if not _complete(target):  # else another test was quicker
                raise
        return target
    finally:
        shutil.rmtree(work)


def _fetch(work):
    os.chmod(work, 0o755)  # apt fetches as another user
    try:
        subprocess.run(["apt-get", "-q", "download", *NAMES], cwd=work, check=True, timeout=120, capture_output=True)
        for name in os.listdir(work):
            if name.endswith(".deb"):
                subprocess.run(["dpkg", "-x", name, "x"], cwd=work, check=True, timeout=60, capture_output=True)
    except (OSError, subprocess.SubprocessError) as error:
        said = getattr(error, "stderr", b"") or b""
        raise Missing(f"cannot download {' '.join(NAMES)}: {said.decode(errors='replace').strip() or error}") from error
