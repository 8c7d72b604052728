#!/usr/bin/env python3
"""Writes docs/codes from recipes/*.toml: a page for each code, and their list. --check: only says whether they are as written."""

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs/codes"

# What was run: programs of Debian 12 on two ranks, killed twice with kill -9 (tests/codes).
RUN_HERE = {
    "lammps": "LAMMPS itself runs in `tests/codes`: two ranks, killed twice, with an input that resumes and with one as users "
    "have it; the data file at the end is bit-identical to that of a run that nobody disturbed.",
    "openfoam": "OpenFOAM itself (icoFoam) runs in `tests/codes`: two ranks, killed twice; the fields at the end are bit-identical to those of a "
    "run that nobody disturbed. `uniform/time` differs in the last digits of the time, which OpenFOAM adds up.",
    "gromacs": "GROMACS itself (`gmx mdrun -ntmpi 2 -reprod`) runs in `tests/codes`: killed twice; the end, the trajectories and the energies are "
    "bit-identical to those of a run that nobody disturbed.",
    "espresso": "Quantum ESPRESSO itself (`pw.x`, molecular dynamics) runs in `tests/codes`: two ranks, killed twice; the energies of all steps are "
    "within 1e-6 Ry of those of a run that nobody disturbed.",
}
COMMANDS = {
    "lammps": "mpirun -n 64 lmp -in in.melt",
    "gromacs": "mpirun -n 64 gmx_mpi mdrun -deffnm md",
    "openfoam": "mpirun -n 64 icoFoam -parallel",
    "openfoam-collated": "mpirun -n 64 icoFoam -parallel -fileHandler collated",
    "espresso": "mpirun -n 64 pw.x -in md.in",
    "flash": "mpirun -n 64 ./flash4",
    "enzo": "mpirun -n 64 enzo run.enzo",
    "wrf": "mpirun -n 64 ./wrf.exe",
    "nemo": "mpirun -n 64 ./nemo",
    "cp2k": "mpirun -n 64 cp2k.psmp -i water.inp",
    "namd": "mpirun -n 64 namd2 run.conf",
    "vasp": "mpirun -n 64 vasp_std",
}
SEEN = {
    "tried": "The code was run.",
    "sources": "The facts are from the code's sources; the code was not run here.",
    "documents": "The facts are from the code's documents; the code was not run here.",
    "reports": "The facts are from what users report; neither the code nor its sources were looked at.",
}
RANKS = {
    "any": "Another number of ranks reads a set as well.",
    "same": "A set is read by as many ranks as wrote it.",
    "unknown": "Whether another number of ranks reads a set is not known.",
}


def way_back(resume):
    lines = []
    if resume.get("place") is True:
        lines.append("puts the set back where it was written")
    elif resume.get("place"):
        lines.append(f"puts the set below `{resume['place']}`")
    if "command" in resume:
        lines.append(f"runs `{' '.join(resume['command'])}` instead of the command")
    if "args" in resume:
        lines.append(f"appends `{' '.join(resume['args'])}` to the command")
    lines += [f"sets `{name}={value}`" for name, value in resume.get("env", {}).items()]
    lines += [f"copies `{text.replace(' -> ', '` to `')}`" for text in resume.get("as", [])]
    lines += [f"writes the pointer `{text}`" for text in resume.get("point", [])]
    lines += [f"makes the link `{text}`" for text in resume.get("link", [])]
    lines += [f"puts `{text}` aside" for text in resume.get("aside", [])]
    return lines


def page(name, recipe):
    command = COMMANDS.get(name, "mpirun -n 64 COMMAND")
    resume = recipe.get("resume", {})
    lets = "".join(f" --let {word}={value}" for word, value in recipe.get("words", {}).items())
    out = [f"# {recipe['title']}", ""]
    out += ["In the directory in which the code runs:", ""]
    out += [f"    forebay recipes --match {name} .{lets}     # what would be taken for sets here"]
    out += [f"    forebay run --store /scratch/store --stage /dev/shm/ck --code {name} --relaunch 3 -- {command}", ""]
    out += ["In a job script of Slurm, with the code's directory on the parallel file system (`run` refuses directories that each node has for itself):", ""]
    out += ["    forebay run --store /scratch/store --stage /dev/shm/ck-$SLURM_JOB_ID --relaunch 3 --deadline auto \\",
            f"        --code {name} -- {command.replace('mpirun -n 64', 'srun')}", ""]  # fmt: skip
    out += ["A set, and when it is complete:", "", "```rule", recipe["rule"].strip("\n"), "```", ""]
    ways = way_back(resume)
    if ways:
        out += [f"At a restart `run` {', '.join(ways)}. What is newer than the set goes to `.forebay-aside/` first.", ""]
    else:
        out += ["At a restart `run` starts the command with `FOREBAY_SET`, `FOREBAY_STEP` and `FOREBAY_PATH` in its environment.", ""]
    if "input" in recipe:
        out += [f"An input that does not resume by itself ({recipe['input']['needs']}) is run as a changed copy, `.forebay-resume.NAME`, where that means "
                "the same ([why](../decisions/0057-a-copy-of-the-input.md)); else `run` says at the start what it needs.", ""]  # fmt: skip
    if "edit" in recipe:
        out += [f"**You change**, before the code resumes: {recipe['edit']}. `--restart-command` can do it.", ""]
    for title, key in (("It needs", "requires"), ("Mind", "dangers")):
        if recipe.get(key):
            out += [f"{title}:", ""] + [f"- {line}" for line in recipe[key]] + [""]
    out += [RANKS[recipe.get("ranks", "unknown")], ""]
    tested = RUN_HERE.get(name)
    if tested:
        out += [f"**Tested:** {tested}"]
    else:
        out += [f"**Tested:** the rule and the restart on made files and events ([rows](../../src/launch/rules/rows.txt)). {SEEN[recipe['seen']]}"]
    if recipe.get("source"):
        out += ["", f"Source: {recipe['source']}."]
    return "\n".join(out) + "\n"


def index(recipes):
    out = ["# Codes", "", "A page for each recipe of `forebay run --code NAME`, made from [recipes](../../recipes) by `tools/code_pages.py`;",
           "[rules.md](../rules.md) has the language of rules, [running-jobs.md](../running-jobs.md) the guide.", "",
           "| code | recipe | resumes |", "|---|---|---|"]  # fmt: skip
    for name, recipe in recipes.items():
        how = "after a change of the input" if "edit" in recipe else "by itself"
        out.append(f"| {recipe['title']} | [{name}]({name}.md) | {how} |")
    return "\n".join(out) + "\n"


def main():
    recipes = {path.stem: tomllib.loads(path.read_text()) for path in sorted((ROOT / "recipes").glob("*.toml"))}
    wanted = {f"{name}.md": page(name, recipe) for name, recipe in recipes.items()} | {"README.md": index(recipes)}
    there = {path.name: path.read_text() for path in PAGES.glob("*.md")} if PAGES.is_dir() else {}
    if "--check" in sys.argv:
        wrong = sorted(name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name))
        if wrong:
            print(f"docs/codes is not what tools/code_pages.py writes: {', '.join(wrong)}")
        return 1 if wrong else 0
    PAGES.mkdir(exist_ok=True)
    for name in there.keys() - wanted.keys():
        (PAGES / name).unlink()
    for name, text in wanted.items():
        (PAGES / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
