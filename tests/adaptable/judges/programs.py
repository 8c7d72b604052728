"""Builds and runs the examples, against the original library or against Forebay."""

import os
import re
import shutil
import signal
import subprocess

import packages
import skel

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
MULTIARCH = "/usr/lib/x86_64-linux-gnu"
SECONDS = 60  # for one program; the longest takes two


class Failed(Exception):
    """A program could not be built or run; the text tells what it said."""


def _call(command, directory, env=None):
    process = subprocess.Popen(command, cwd=directory, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, start_new_session=True, text=True, errors="replace")
    # One behind the other: through one pipe a piece of a line of the one can come into a line of the other.
    try:
        output = "".join(process.communicate(timeout=SECONDS))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output = "".join(process.communicate())
        raise Failed(f"{' '.join(command)} takes longer than {SECONDS} s:\n{output}") from None
    if process.returncode != 0:
        raise Failed(f"{' '.join(command)} returned {process.returncode}:\n{output}")
    return output


class Original:
    """ADIOS 1.13 from its packages, under MPICH."""

    mpi = "mpich"

    def __init__(self, packages_directory):
        self._root = packages_directory
        self._libraries = os.path.join(packages_directory, packages.LIBRARIES)

    def includes(self):
        return [os.path.join(self._root, "usr/include")]

    def flags(self, fortran, sequential):
        """(flags to compile, flags to link), which adios_config tells where the package is installed."""
        library = "adiosf" if fortran else "adios_nompi" if sequential else "adios"
        directories = [self._libraries, f"{MULTIARCH}/hdf5/{'serial' if sequential else 'mpich'}"]
        if not sequential:
            directories.insert(0, os.path.join(self._libraries, "adios/mpich"))
        # Debian has no netCDF for MPICH: what the method NC4 would call stays unresolved, and is not called.
        link = [f"-L{d}" for d in directories] + [f"-l{library}", "-lhdf5_hl", "-lhdf5", "-lz", "-lbz2", "-lsz", "-llz4", "-lblosc",
                                                  "-lm", "-lpthread", "-Wl,--unresolved-symbols=ignore-all", "-no-pie"]
        modules = os.path.join(self._libraries, "fortran/gfortran-mod-15")
        return (["-D_NOMPI"] if sequential else []) + ([f"-I{modules}"] if fortran else []), link

    def command_line(self):
        """(flags to compile a C program, flags to link it)."""
        return _command_line(self)


class Forebay:
    """Forebay's adios.h in a build tree, for one MPI."""

    def __init__(self, build, mpi):
        self.mpi, self._build = mpi, os.path.abspath(build)

    def includes(self):
        return [os.path.join(SOURCE, "include/adios")]

    def flags(self, fortran, sequential):
        library = "adiosf" if fortran else "adios_nompi" if sequential else "adios"
        directory = os.path.join(self._build, "lib", "" if sequential else f"adios/{self.mpi}")
        link = [f"-L{directory}", f"-Wl,-rpath,{directory}", f"-l{library}"] + (["-ladios"] if fortran else [])
        return (["-D_NOMPI"] if sequential else []) + ([f"-I{self._build}/include/adios"] if fortran else []), link

    def command_line(self):
        """(flags to compile a C program, flags to link it)."""
        return _command_line(self)


def _command_line(library):
    compile_flags, link_flags = library.flags(fortran=False, sequential=False)
    return [f"-I{path}" for path in library.includes()] + compile_flags, link_flags


class Runner:
    """Runs judges in directories below `work`, each a fresh one."""

    def __init__(self, library, examples, work, tools):
        self._library, self._examples, self._work, self._tools = library, examples, work, tools
        os.makedirs(os.path.join(work, "include"), exist_ok=True)
        # Some examples say "public/adios.h", as in ADIOS's own source tree.
        for path in library.includes():
            link = os.path.join(work, "include", "public")
            if not os.path.lexists(link):
                os.symlink(path, link)

    def directory(self, judge):
        return os.path.join(self._work, judge.name)

    def run(self, judge):
        """Builds and runs a judge; returns what it printed. Its files are in directory(judge)."""
        directory = self.directory(judge)
        shutil.rmtree(directory, ignore_errors=True)
        if judge.after:
            shutil.copytree(os.path.join(self._work, judge.after), directory)
        os.makedirs(directory, exist_ok=True)
        source = os.path.join(self._examples, judge.source)
        for name in judge.inputs:
            self._copy(os.path.join(os.path.dirname(source), name), directory, judge)
        if judge.skel:
            xml = self._copy(source, directory, judge)
            source = os.path.join(directory, "writer.c")
            skel.generate(xml, judge.skel, source)
        if judge.generates:
            for name in judge.inputs:
                _call([self._tools["forebay"], "config", "generate", name], directory)
        self._build(judge, source, directory)
        return self._launch(judge, directory)

    @staticmethod
    def _copy(path, directory, judge):
        """Copies an XML file or another, with the method that the judge wants; returns where it is."""
        with open(path, encoding="latin-1") as file:
            text = file.read()
        if judge.method:
            text, count = re.subn(r'(<(?:method|transport)[^>]*\bmethod=")[A-Z0-9_]*', rf"\g<1>{judge.method}", text)
            if not count:
                raise Failed(f"{path} names no method")
        if judge.full_names:
            text = skel.with_full_names(text)
        copy = os.path.join(directory, os.path.basename(path))
        with open(copy, "w", encoding="latin-1") as file:
            file.write(text)
        return copy

    def _build(self, judge, source, directory):
        """As the examples' makefiles do it: one compile, one link."""
        fortran = source.endswith(".F90")
        compiler = "cc" if judge.sequential else ("mpifort." if fortran else "mpicc.") + self._library.mpi
        compile_flags, link_flags = self._library.flags(fortran, judge.sequential)
        includes = [f"-I{path}" for path in [directory, *self._library.includes(), os.path.join(self._work, "include")]]
        object_file = os.path.join(directory, "program.o")
        # Some call adios_write without its module, with values of different types: MPICH's wrapper allows it by itself.
        old_fortran = ["-fallow-argument-mismatch"] if fortran else []
        defines = [f"-D{name}" for name in judge.defines]
        _call([compiler, "-w", "-g", *old_fortran, *defines, *includes, *compile_flags, "-c", source, "-o", object_file], directory)
        _call([compiler, "-o", os.path.join(directory, "program"), object_file, *link_flags], directory)

    def _launch(self, judge, directory):
        env = {name: value for name, value in os.environ.items() if not name.startswith(("FOREBAY_", "LD_PRELOAD"))}
        command = ["./program", *judge.arguments]
        if not judge.sequential:
            launch = [self._tools[f"mpiexec.{self._library.mpi}"], "-n", str(judge.ranks)]
            if self._library.mpi == "openmpi":
                launch[1:1] = ["--oversubscribe", "--mca", "btl_base_warn_component_unused", "0"]
                launch[1:1] = ["--allow-run-as-root"] if os.geteuid() == 0 else []
            else:
                env["LD_PRELOAD"] = self._tools["polite"]
            command = launch + command
        return _call(command, directory, env)
