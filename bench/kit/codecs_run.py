"""Carries out the measurements of bench/codecs and checks every round trip."""
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from kit import codecs_plan as plan, codecs_profile, compression_run, measure, workspace

KIT = Path(__file__).resolve().parent


def pcodec_python():
    """The interpreter of an environment with pcodec in it, made if need be; None if that fails."""
    home = Path(tempfile.gettempdir()) / f"forebay-bench-pcodec-{plan.PCODEC_VERSION}"
    python = home / "bin/python3"
    if not (home / "ready").exists():
        try:
            subprocess.run([sys.executable, "-m", "venv", home], check=True, stdout=subprocess.DEVNULL)
            subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check",
                            f"pcodec=={plan.PCODEC_VERSION}", "numpy"], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"without pcodec: {error}", file=sys.stderr)
            return None
        (home / "ready").touch()
    return python


class Runner:
    """On frames alone; whole sets are packed by compression_run.Runner."""

    def __init__(self, programs, work, log):
        self._forebay, self._frames = str(programs / "forebay"), str(programs / "forebay-measure-frames")
        self._work, self._log = work, log
        self._pcodec = pcodec_python()

    def frames(self, data):
        """All arms, in turns, in one process. The first turn warms memory and caches up and does not count."""
        said = measure.run([self._frames, str(data.path), "2", "-", *plan.ARMS])
        for line in map(json.loads, said.output.splitlines()):
            if line.pop("round") == 1:
                self._log.add({"set": data.name, "arm": line.pop("arm")}, **line)

    def exhaustive(self, data):
        said = measure.run([self._frames, str(data.path), "1", "-", *plan.EXHAUSTIVE])
        for line in map(json.loads, said.output.splitlines()):
            self._log.add({"set": data.name, "arm": line["arm"]}, groups=line["groups"])

    def pcodec(self, data):
        if self._pcodec:
            said = measure.run([str(self._pcodec), str(KIT / "pcodec_peer.py"), str(self._dump(data)),
                                *plan.PEER_TYPES])
            self._log.add({"set": data.name, "arm": plan.PCODEC}, groups=json.loads(said.output))

    def gzip(self, data):
        """gzip itself, on all frames of a class, one after another."""
        rows = []
        for (kind, dimensions), frames in self._classes(self._dump(data)).items():
            raw, out, back = (self._work / f"class.{end}" for end in ("raw", "gz", "back"))
            with open(raw, "wb") as joined:
                for frame in frames:
                    joined.write(frame.read_bytes())
            encode, decode = measure.run(f"gzip -6 -c {raw} > {out}"), measure.run(f"gzip -dc {out} > {back}")
            compression_run.check(raw, back, f"{data.name} gzip", metadata=False)
            rows.append({"type": kind, "dimensions": dimensions, "raw": raw.stat().st_size,
                         "stored": out.stat().st_size, "encode": encode.cpu, "decode": decode.cpu})
            workspace.remove(raw, out, back)
        self._log.add({"set": data.name, "arm": plan.GZIP}, groups=rows)

    def _dump(self, data):
        """The frames of a set as files, made when they are first asked for."""
        dump = self._work / f"{data.name}.frames"
        if not dump.exists():
            dump.mkdir()
            measure.run([self._frames, str(data.path), "1", str(dump), plan.CHAINS[0]])
        return dump

    @staticmethod
    def _classes(dump):
        classes = {}
        for path in sorted(dump.iterdir()):
            _, kind, dimensions = path.name.split("-")
            classes.setdefault((kind, dimensions), []).append(path)
        return {key: frames for key, frames in classes.items() if key[0] in plan.PEER_TYPES
                and sum(frame.stat().st_size for frame in frames) >= plan.LEAST_CLASS_BYTES}

    def _pack(self, data, profile, store, name="set", threads=1):
        return measure.run([self._forebay, "pack", str(data.path), "--store", str(store), "--name", name, "--threads",
                            str(threads), "--profile", profile, "--json"])

    def threads(self, data, profile):
        for threads in plan.THREADS:
            store, back = self._work / "store", self._work / "back"
            pack = self._pack(data, profile, store, threads=threads)
            restore = measure.run([self._forebay, "restore", "set", "--store", str(store), "--to", str(back),
                                   "--threads", str(threads)])
            compression_run.check(data.path, back, f"{data.name} {profile}")
            self._log.add({"set": data.name, "threads": threads, "profile": profile}, raw=data.raw_bytes,
                          pack=pack.record(), restore=restore.record())
            workspace.remove(store, back)

    def after(self, before, data, profile):
        """The same set into an empty store, and into one that has the set before, whose choices are remembered."""
        for first in (None, before):
            store = self._work / "store"
            if first:
                self._pack(first, profile, store, "before")
            report = json.loads(self._pack(data, profile, store).output)
            self._log.add({"set": data.name, "profile": profile, "after": first.name if first else ""},
                          stored=report["stored_bytes"], encode=report["cpu_seconds_by_stage"]["encode"])
            workspace.remove(store)

    def profile(self, data, profile):
        if not shutil.which("perf"):
            return
        store = self._work / "store"
        command = (f"{self._forebay} pack {data.path} --store {store} --name set --threads 1 --profile {profile}; "
                   f"rm -r {store}")
        self._log.add({"set": data.name, "profile": profile, "perf": "pack"},
                      shares=codecs_profile.shares(command, self._work / "perf.data"))
