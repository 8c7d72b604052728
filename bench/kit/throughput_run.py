"""Carries out the measurements of bench/throughput and checks every round trip."""
import os
import shutil

from kit import measure, throughput_plan as plan, workspace


class WrongBytes(Exception):
    pass


class Runner:
    """`places` maps the name of each place to a directory there."""

    def __init__(self, forebay, places, results):
        self._forebay, self._places, self._results = str(forebay), places, results

    def run(self, data, place, arm):
        if not all(shutil.which(program) for program in arm.programs):
            return
        out, back = self._places[place] / "stored", self._places[place] / "back"
        workspace.remove(out, back)
        names = {"forebay": self._forebay, "dir": data.path, "out": out, "back": back}
        steps = {}
        for operation in ("pack", "verify", "restore"):
            if place == "disk":
                os.sync()  # what an earlier arm left to be written must not be written at this one's expense
            steps[operation] = measure.run(getattr(arm, operation).format(**names)).record()
        said = workspace.difference(data.path, back, metadata=arm.is_forebay)
        if said:
            raise WrongBytes(f"{data.name}, {arm.name}: {said}")
        stored = workspace.bytes_below(out) if out.is_dir() else out.stat().st_size
        self._results.add(key_of(data, place, arm), raw=data.raw_bytes, stored=stored, **steps)
        workspace.remove(out, back)

    def same_containers(self, data):
        """Packs with one process and with two, and compares the containers byte by byte."""
        if not shutil.which("mpiexec.mpich"):
            return
        stores = [self._places["tmpfs"] / name for name in ("alone", "spread")]
        for store, launcher in zip(stores, ([], ["mpiexec.mpich", "-n", "2"])):
            measure.run([*launcher, self._forebay, "pack", str(data.path), "--store", str(store), "--name", "set"])
        containers = [[file for file in workspace.files_below(store) if file.suffix == ".fbc"] for store in stores]
        same = len(containers[0]) == len(containers[1]) > 0 and not any(
            workspace.difference(a, b) for a, b in zip(*containers))
        self._results.add({"set": data.name, "check": "same containers"}, same=same, containers=len(containers[0]))
        workspace.remove(*stores)


def key_of(data, place, arm):
    return {"set": data.name, "place": place, "arm": arm.name}


def rounds(sets, repeat, large, quick):
    """Yields (round, set, place, arm): all arms of one set and place in turns."""
    for number in range(repeat):
        for data in sets:
            for place in ("tmpfs",) if quick else ("tmpfs", "disk"):
                for arm in plan.arms(place, data is large):
                    if number == 0 or arm.name not in plan.ONCE:
                        yield number, data, place, arm
