#!/usr/bin/env python3
"""Real codes of Debian under `forebay run --code`: two ranks each, killed twice, resumed; the end is that of an undisturbed run."""

import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cli"))

from support import COMMAND, StoreTest, environment, main  # noqa: E402

MPIEXEC = "mpiexec.openmpi"
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
           "OMPI_MCA_mpi_yield_when_idle": "1", "WM_PROJECT_DIR": "/usr/share/openfoam"}  # fmt: skip

# Starts the code; in each of its first two attempts it kills one rank when a condition holds that only this attempt fulfils. Until
# then the ranks run for 20 ms at a time, and stand still while the condition is looked at: no machine is too fast for it. Without an
# MPI the rank is the program itself.
LAUNCHER = """#!/bin/sh
program=$1; first=$2; second=$3; shift 3
touch started
"$@" > log.$FOREBAY_ATTEMPT 2>&1 &
job=$!
case $FOREBAY_ATTEMPT in 1) condition=$first ;; 2) condition=$second ;; *) condition= ;; esac
ranks() { pgrep -P $job "$program" || pgrep -P "$(pgrep -d, -P $job || echo $job)" "$program" || echo $job; }
while [ -n "$condition" ] && kill -0 $job 2> /dev/null; do
  stopped=$(ranks); kill -STOP $stopped 2> /dev/null
  if eval "$condition"; then kill -9 $(echo $stopped | cut -d' ' -f1); condition=; else sleep 0.04; fi
  kill -CONT $stopped 2> /dev/null
  sleep 0.02
done
wait $job
"""

# A Lennard-Jones melt; what an input needs for a restart is its first `if`. LAMMPS sorts atoms each 1,000 steps, counted from the
# start: only restarts at such a step sum in the same order, and are bit-identical.
MELT = """units lj
atom_style atomic
if "$(is_defined(variable,restart))" then "read_restart ${restart}" else &
  "lattice fcc 0.8442" "region box block 0 6 0 6 0 6" "create_box 1 box" "create_atoms 1 box" "mass 1 1.0" &
  "velocity all create 3.0 87287 loop geom"
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nve
thermo 1000
restart 1000 melt.restart.*
run 8000 upto
write_data final.data
"""

# Argon on a lattice, and what `gmx grompp` makes a run of.
ARGON = {
    "topol.top": """[ defaults ]
1 2
[ atomtypes ]
AR AR 18 39.948 0.0 A 0.3405 0.996
[ moleculetype ]
AR 1
[ atoms ]
1 AR 1 AR AR 1 0.0 39.948
[ system ]
argon
[ molecules ]
AR 512
""",
    "md.mdp": """integrator = md
dt = 0.002
nsteps = 16000
nstxout = 1000
nstvout = 1000
nstenergy = 500
nstlog = 1000
nstxout-compressed = 500
cutoff-scheme = Verlet
rvdw = 0.9
rcoulomb = 0.9
tcoupl = v-rescale
tc-grps = System
tau_t = 0.1
ref_t = 90
gen_vel = yes
gen_temp = 90
gen_seed = 1234
ld_seed = 1234
""",
}


def argon_lattice(edge=8, distance=0.362):
    places = [[(x + 0.5) * distance for x in (i, j, k)] for i in range(edge) for j in range(edge) for k in range(edge)]
    rows = ["%5d%-5s%5s%5d%8.3f%8.3f%8.3f" % (n, "AR", "AR", n, *place) for n, place in enumerate(places, 1)]
    return "\n".join(["argon", str(len(places)), *rows, "%10.5f%10.5f%10.5f" % ((edge * distance,) * 3)]) + "\n"


# Two atoms of silicon that move. pw.x begins from scratch where outdir has nothing, whatever restart_mode says.
SILICON = """&control
 calculation='md', prefix='si', outdir='out', pseudo_dir='/usr/share/espresso/pseudo', restart_mode='restart', nstep=20, dt=20.0
/
&system
 ibrav=2, celldm(1)=10.18, nat=2, ntyp=1, ecutwfc=20.0, nosym=.true.
/
&electrons
 conv_thr=1.0d-9
/
&ions
 pot_extrapolation='second-order', wfc_extrapolation='second-order'
/
ATOMIC_SPECIES
 Si 28.086 Si.pz-vbc.UPF
ATOMIC_POSITIONS alat
 Si -0.123 -0.120 -0.127
 Si 0.123 0.120 0.127
K_POINTS automatic
 2 2 2 0 0 0
"""

# Of the launcher: whether a log has four energies. Each step takes as long as in a calculation of a size that anybody would run: both
# ranks stand still for a while after its first iteration, when all is written that belongs to the step before.
FOUR_STEPS = """steps=$(grep -c 'iteration # *1 ' log.$FOREBAY_ATTEMPT)
  [ $steps = "$seen" ] || { seen=$steps; sleep 1.7; }; [ $steps -gt 4 ]"""


def energies(log):
    """By the number of the step that follows."""
    steps = re.findall(r"^!    total energy +=\s+(\S+) Ry.*?Entering Dynamics: +iteration = +(\d+)", log.read_text(), re.S | re.M)
    return {int(step): float(energy) for energy, step in steps}


# As a user has it: no variable, no read_restart, restart files and an appended dump straight beside it.
MELT_AS_IT_IS = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 6 0 6 0 6
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nve
thermo 1000
dump d all custom 1000 melt.dump id type x y z
dump_modify d sort id
restart 1000 melt.restart.*
run 5000
write_data final.data
"""


def frames(dump):
    """By step; the one of a restart is there twice."""
    return {int(frame.split()[0]): frame for frame in dump.read_text().split("ITEM: TIMESTEP\n")[1:]}


HEAD = "FoamFile { version 2.0; format ascii; class %s; object %s; }\n"
CAVITY = {
    "system/controlDict": ("dictionary", """application icoFoam; startFrom latestTime; startTime 0; stopAt endTime; endTime 0.8;
deltaT 0.0005; writeControl timeStep; writeInterval 200; purgeWrite 0; writeFormat binary; writePrecision 16;
writeCompression off; timeFormat general; timePrecision 12; runTimeModifiable false;"""),
    "system/blockMeshDict": ("dictionary", """scale 0.1;
vertices ((0 0 0) (1 0 0) (1 1 0) (0 1 0) (0 0 0.1) (1 0 0.1) (1 1 0.1) (0 1 0.1));
blocks (hex (0 1 2 3 4 5 6 7) (60 60 1) simpleGrading (1 1 1));
edges ();
boundary (
  lid { type wall; faces ((3 7 6 2)); }
  walls { type wall; faces ((0 4 7 3) (2 6 5 1) (1 5 4 0)); }
  sides { type empty; faces ((0 3 2 1) (4 5 6 7)); });
mergePatchPairs ();"""),
    "system/fvSchemes": ("dictionary", """ddtSchemes { default Euler; }
gradSchemes { default Gauss linear; }
divSchemes { default none; div(phi,U) Gauss linear; }
laplacianSchemes { default Gauss linear orthogonal; }
interpolationSchemes { default linear; }
snGradSchemes { default orthogonal; }"""),
    "system/fvSolution": ("dictionary", """solvers {
  p { solver PCG; preconditioner DIC; tolerance 1e-06; relTol 0.05; }
  pFinal { $p; relTol 0; }
  U { solver smoothSolver; smoother symGaussSeidel; tolerance 1e-05; relTol 0; } }
PISO { nCorrectors 2; nNonOrthogonalCorrectors 0; pRefCell 0; pRefValue 0; }"""),
    "system/decomposeParDict": ("dictionary", "numberOfSubdomains 2; method simple; coeffs { n (2 1 1); } simpleCoeffs { n (2 1 1); delta 0.001; }"),
    "constant/transportProperties": ("dictionary", "nu 0.01;"),
    "0/p": ("volScalarField", """dimensions [0 2 -2 0 0 0 0]; internalField uniform 0;
boundaryField { lid { type zeroGradient; } walls { type zeroGradient; } sides { type empty; } }"""),
    "0/U": ("volVectorField", """dimensions [0 1 -1 0 0 0 0]; internalField uniform (0 0 0);
boundaryField { lid { type fixedValue; value uniform (1 0 0); } walls { type noSlip; } sides { type empty; } }"""),
}  # fmt: skip


class Codes(StoreTest):
    def setUp(self):
        super().setUp()
        self.case, self.undisturbed = self.work / "case", self.work / "undisturbed"
        launcher = self.work / "launcher.sh"
        launcher.write_text(LAUNCHER)
        self.case.mkdir()

    def call(self, *words, cwd):
        done = subprocess.run(words, cwd=cwd, env=environment(**AS_ROOT), capture_output=True, text=True, timeout=400)
        self.assertEqual(0, done.returncode, done.stdout[-2000:] + done.stderr[-2000:])
        return done

    def run_killed_twice(self, code, program, first, second, *words, options=()):
        done = subprocess.run(
            [COMMAND, "run", "--store", self.store, "--stage", self.work / "stage", "--code", code, "--relaunch", "3", "--relaunch-pause",
             "0.1", *options, "--", "sh", self.work / "launcher.sh", program, first, second, *words],
            cwd=self.case, env=environment(**AS_ROOT), capture_output=True, text=True, timeout=400)  # fmt: skip
        logs = "".join(path.read_text(errors="replace")[-1500:] for path in sorted(self.case.glob("log.*")))
        self.assertEqual(0, done.returncode, done.stdout + done.stderr + logs)
        self.assertEqual(2, done.stderr.count("it is started again"), done.stderr)
        return done.stderr

    @unittest.skipUnless(shutil.which("lmp") and shutil.which(MPIEXEC), "no LAMMPS (package lammps) is installed")
    def test_lammps(self):
        words = [MPIEXEC, "-n", "2", "lmp", "-in", "in.melt"]
        (self.case / "in.melt").write_text(MELT)
        shutil.copytree(self.case, self.undisturbed)
        self.call(*words, cwd=self.undisturbed)
        self.run_killed_twice("lammps", "lmp", "[ -e melt.restart.3000 ]", "[ -e melt.restart.6000 ]", *words)
        for attempt in (2, 3):
            self.assertIn("Reading restart file", (self.case / f"log.{attempt}").read_text())
        self.assertEqual((self.undisturbed / "final.data").read_bytes(), (self.case / "final.data").read_bytes())
        self.assertEqual(MELT, (self.case / "in.melt").read_text())

    @unittest.skipUnless(shutil.which("lmp") and shutil.which(MPIEXEC), "no LAMMPS (package lammps) is installed")
    def test_lammps_as_users_have_it(self):
        words = [MPIEXEC, "-n", "2", "lmp", "-in", "in.melt"]
        (self.case / "in.melt").write_text(MELT_AS_IT_IS)
        shutil.copytree(self.case, self.undisturbed)
        self.call(*words, cwd=self.undisturbed)
        err = self.run_killed_twice("lammps", "lmp", "[ -e melt.restart.2000 ]", "[ -e melt.restart.4000 ]", *words)
        self.assertIn("in.melt does not resume by itself: a restart runs .forebay-resume.in.melt, a copy of it that does", err)
        for attempt in (2, 3):
            self.assertIn("Reading restart file", (self.case / f"log.{attempt}").read_text())
        self.assertEqual(MELT_AS_IT_IS, (self.case / "in.melt").read_text())
        self.assertEqual((self.undisturbed / "final.data").read_bytes(), (self.case / "final.data").read_bytes())
        self.assertEqual(frames(self.undisturbed / "melt.dump"), frames(self.case / "melt.dump"))

    @unittest.skipUnless(shutil.which("icoFoam") and shutil.which(MPIEXEC), "no OpenFOAM (package openfoam) is installed")
    def test_openfoam(self):
        for path, (kind, text) in CAVITY.items():
            (self.case / path).parent.mkdir(parents=True, exist_ok=True)
            (self.case / path).write_text(HEAD % (kind, Path(path).name) + text + "\n")
        self.call("blockMesh", cwd=self.case)
        self.call("decomposePar", cwd=self.case)
        shutil.copytree(self.case, self.undisturbed)
        words = [MPIEXEC, "-n", "2", "icoFoam", "-parallel"]
        self.call(*words, cwd=self.undisturbed)
        self.run_killed_twice("openfoam", "icoFoam", "[ -e processor1/0.3/U ]", "[ -e processor1/0.6/U ]", *words)
        for rank in (0, 1):
            for field in ("U", "p", "phi"):
                ends = [(base / f"processor{rank}/0.8/{field}").read_bytes() for base in (self.case, self.undisturbed)]
                self.assertEqual(ends[0], ends[1], f"{field} of rank {rank}")
            self.assertTrue((self.case / f"processor{rank}/constant/polyMesh/points").exists())
        for path in CAVITY:
            self.assertTrue((self.case / path).exists(), path)
        self.assertIn("Create mesh for time = 0.", (self.case / "log.3").read_text())

    @unittest.skipUnless(shutil.which("gmx"), "no GROMACS (package gromacs) is installed")
    def test_gromacs(self):
        for name, text in (*ARGON.items(), ("conf.gro", argon_lattice())):
            (self.case / name).write_text(text)
        self.call("gmx", "grompp", "-f", "md.mdp", "-c", "conf.gro", "-p", "topol.top", "-o", "md.tpr", "-maxwarn", "2", cwd=self.case)
        shutil.copytree(self.case, self.undisturbed)
        words = ["gmx", "mdrun", "-deffnm", "md", "-ntmpi", "2", "-ntomp", "1", "-reprod", "-cpt", "0.006"]
        self.call(*words, cwd=self.undisturbed)
        self.run_killed_twice("gromacs", "gmx", "[ -e md_prev.cpt ]", "[ md_prev.cpt -nt started ]", *words)
        log = (self.case / "md.log").read_text(errors="replace")
        self.assertEqual(2, log.count("Restarting from checkpoint, appending"), log[-2000:])
        for name in ("md.gro", "md.trr", "md.xtc", "md.edr"):
            self.assertEqual((self.undisturbed / name).read_bytes(), (self.case / name).read_bytes(), name)

    @unittest.skipUnless(shutil.which("pw.x") and shutil.which(MPIEXEC), "no Quantum ESPRESSO (package quantum-espresso) is installed")
    def test_espresso(self):
        words = [MPIEXEC, "-n", "2", "pw.x", "-in", "md.in"]
        for case in (self.case, self.undisturbed):
            case.mkdir(exist_ok=True)
            (case / "md.in").write_text(SILICON)
        (self.undisturbed / "log").write_text(self.call(*words, cwd=self.undisturbed).stdout)
        self.run_killed_twice("espresso", "pw.x", FOUR_STEPS, FOUR_STEPS, *words)
        expected = energies(self.undisturbed / "log")
        logs = [energies(self.case / f"log.{attempt}") for attempt in (1, 2, 3)]
        for before, after in zip(logs, logs[1:]):
            self.assertIn(min(after), range(2, max(before) + 2), "it resumes where it was")
        self.assertGreaterEqual(max(logs[2]), max(expected))
        for step, energy in [each for log in logs for each in log.items() if each[0] in expected]:
            self.assertAlmostEqual(expected[step], energy, delta=1e-6, msg=f"step {step}")


if __name__ == "__main__":
    main()
