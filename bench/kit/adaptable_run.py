"""Builds and runs the programs of bench/adaptable-io."""
import json
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

from kit import adaptable_plan as plan, results

BENCH = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(BENCH.parent / "tests/adaptable/judges"))
import packages  # noqa: E402
import programs as judges  # noqa: E402

COMPILE = ["mpicc.mpich", "-O2", str(BENCH / "adaptable/workload.c")]


class Programs:
    """The workload, built against each library that is there: `libraries` maps their names to programs."""

    def __init__(self, binaries, cache):
        self._forebay = Path(binaries)
        self.directory = Path(cache).resolve() / "bench"
        self.directory.mkdir(parents=True, exist_ok=True)
        self.libraries = {}
        self._build("forebay", *judges.Forebay(self._forebay.resolve().parent, "mpich").command_line())
        self._build("hdf5", ["-DWITH_HDF5", "-I/usr/include/hdf5/mpich"],
                    ["-L/usr/lib/x86_64-linux-gnu/hdf5/mpich", "-lhdf5"])
        try:
            original = judges.Original(packages.unpacked(str(cache)))
            self._build("adios", *original.command_line())
        except packages.Missing as error:
            print(f"ADIOS 1.13 is left out: {error}", file=sys.stderr)
        self.polite = self.directory / "polite.so"
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", BENCH / "locks/polite_mpi.c", "-o", self.polite, "-ldl"], check=True)

    def _build(self, name, compile_flags, link_flags):
        program = self.directory / f"workload-{name}"
        subprocess.run([*COMPILE, *compile_flags, "-o", program, *link_flags, "-lm"], check=True)
        self.libraries[name] = program

    def build(self):
        return results.build_of(self._forebay.resolve().parent / "lib/adios/mpich/libadios.so")

    def of(self, arm):
        return self.libraries["forebay" if arm.library == "none" else arm.library]


class Runner:
    """`places` maps each place to a directory."""

    def __init__(self, programs, places, log):
        self._programs, self._places, self._log = programs, places, log

    def run(self, case, arm):
        directory = Path(self._places[case.place]) / "files"
        directory.mkdir(exist_ok=True)
        command = ["mpiexec.mpich", "-n", str(case.ranks), "-env", "LD_PRELOAD", self._programs.polite,
                   self._programs.of(arm), plan.PROGRAMS.get(case.workload, case.workload), arm.method, case.parameters(arm), directory, str(case.size),
                   str(case.steps), str(case.repeat), str(case.compute)]
        env = {name: value for name, value in os.environ.items() if not name.startswith("FOREBAY_")}
        said = subprocess.run(command, capture_output=True, text=True, timeout=900, env=env)
        shutil.rmtree(directory)
        if said.returncode != 0:
            raise SystemExit(f"{case}, {arm.name}: exit code {said.returncode}\n{said.stdout[-500:]}{said.stderr[-2000:]}")
        lines = [json.loads(line) for line in said.stdout.splitlines() if line.startswith("{")]
        warm = lines[1:] or lines  # the first write of a program finds no memory that it could use again
        self._log.add(plan.key_of(case, arm), **{name: statistics.median(line[name] for line in warm) for name in warm[0]})
