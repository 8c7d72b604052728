"""Carries out the measurements of bench/mpiio."""
import json
import os
import subprocess
from pathlib import Path

from kit import mpiio_plan as plan, results


class Programs:
    """What a build has for this benchmark."""

    def __init__(self, directory):
        library = Path(directory).parent / "lib"
        self.workloads = Path(directory) / "forebay-bench-mpiio"
        self.layer = library / "libforebay_mpiio.so"
        self.module = library / "forebay" / "forebay-mpiio-mpich.so"
        self.link = library / "libforebay-bench-link.so"
        self.polite = library / "libforebay-bench-polite.so"
        for file in vars(self).values():
            if not file.exists():
                raise SystemExit(f"{file} is missing: build the release preset, with FOREBAY_MPIIO and FOREBAY_BENCH")

    def build(self):
        return results.build_of(self.module)


class Runner:
    """`places` maps each setting to the directory for its files."""

    def __init__(self, programs, places, log):
        self._programs, self._places, self._log = programs, places, log

    def run(self, case, arm):
        workload, words = case.words(arm)
        command = ["mpiexec.mpich", "-n", str(case.ranks), *self._environment(case, arm), self._programs.workloads,
                   workload, self._places[case.setting] / "data", *words]
        before = os.times()
        said = subprocess.run(command, capture_output=True, text=True, timeout=600)
        after = os.times()
        if said.returncode != 0:
            raise SystemExit(f"{case}, {arm.name}: exit code {said.returncode}\n{said.stderr[-2000:]}")
        lines = [json.loads(line) for line in said.stdout.splitlines()]
        self._log.add(plan.key_of(case, arm), **_speeds(lines),
                      cpu=after.children_user + after.children_system - before.children_user - before.children_system)

    def _environment(self, case, arm):
        """As options of mpiexec, so that the ranks are what is preloaded, not the launcher."""
        libraries = [self._programs.polite]
        variables = {}
        if case.setting == "link":
            libraries.append(self._programs.link)
            variables |= plan.LINK
        if arm.layer:
            libraries.append(self._programs.layer)
            variables |= arm.environment
        variables["LD_PRELOAD"] = " ".join(map(str, libraries))
        return [word for name, value in variables.items() for word in ("-env", name, value)]


def _speeds(lines):
    """MB/s of each access; the first of each kind warms up and is left out."""
    speeds = {}
    for line in lines:
        speeds.setdefault(line["phase"], []).append(line["bytes"] / line["seconds"] / 1e6)
    return {phase: values[1:] for phase, values in speeds.items()}
