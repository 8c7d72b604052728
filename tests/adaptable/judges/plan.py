"""Which of ADIOS's examples are judges, of writing and of reading, how each is built and run, and why the others are not."""

import os
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Judge:
    """One run of one example. All files *.bp that the original leaves are compared."""

    name: str
    source: str  # below the examples' directory; a program of ours by its whole path
    ranks: int = 3
    arguments: tuple = ()
    inputs: tuple = ()  # copied beside the program, from the directory of the source
    method: str = ""  # put in the place of the method that its XML names
    sequential: bool = False  # built with -D_NOMPI
    generates: bool = False  # its makefile makes includes of its XML with gpp.py: `forebay config generate` does
    after: str = ""  # the judge whose outputs it finds in its directory: what it prints of them is compared
    told: str = ""  # of that: only lines that begin so
    untold: str = "^DEBUG: "  # and no lines that have this regular expression
    in_order: bool = True  # whether its lines have to come in the same order, if there is one rank
    defines: tuple = ()
    skel: dict = field(default=None, hash=False)  # values of its dimensions, for an XML without a program
    full_names: bool = False  # its XML names dimensions without their paths, which 1.13 refuses: put in their place


def _c(folder, program, *inputs, **options):
    return Judge(f"c.{folder}.{program}", f"C/{folder}/{program}.c", inputs=inputs, **options)


def _f(folder, program, *inputs, **options):
    return Judge(f"fortran.{folder}.{program}", f"Fortran/{folder}/{program}.F90", inputs=inputs, **options)


def _mesh(program):
    return _c("schema", program, *(() if "noxml" in program else (f"{program}.xml",)), ranks=6, arguments=("3", "2"))


def _reads(folder, program, after, **options):
    """A reader in C of what another judge wrote."""
    return Judge(f"c.{folder}.{program}", f"C/{folder}/{program}.c", after=after, **{"ranks": 1, **options})


def _all_of(judge, file, first_version=False):
    """read_all, of either version of the interface, prints what another judge wrote."""
    program = "read_all_v1" if first_version else "read_all"
    return Judge(f"c.read_all.{program}.{judge}", f"C/read_all/{program}.c", ranks=1, after=judge, sequential=True,
                 arguments=(file,), defines=("ADIOS_USE_READ_API_1",) if first_version else (), in_order=False)


def _skel(folder, ranks, full_names=False, **values):
    return Judge(f"skel.{folder}", f"skel/{folder}/{folder}.xml", ranks=ranks, skel=values, full_names=full_names)


def _methods(judge, names):
    """The judge with other methods in its XML."""
    return [Judge(**{**vars(judge), "name": f"{judge.name}.{name.lower()}", "method": name}) for name in names]


_attributes = _c("attributes", "attributes_write", "attributes.xml")
_global = _c("global-array", "adios_global", "adios_global.xml", ranks=4)
_time = _c("global-array-time", "adios_globaltime", "adios_globaltime.xml", ranks=6)
_write = _c("manual", "2_adios_write", "config.xml")
_box = {"ndx": "4", "ndy": "3 + rank % 2", "ndz": "2", "npx": "size", "npy": "1", "npz": "1", "nproc": "size"}
_box |= {"gndx": "4 * size", "gndy": "4", "gndz": "2", "offx": "4 * rank", "offy": "0", "offz": "0"}

# The rank counts are those of the examples' job scripts and READMEs, or small ones that divide nothing evenly.
JUDGES = [
    _c("scalars", "scalars_write", "scalars.xml"),
    _c("arrays", "arrays_write", "arrays.xml", ranks=6),
    _attributes,
    *_methods(_attributes, ("PHDF5",)),
    _global,
    *_methods(_global, ("POSIX", "MPI_AGGREGATE", "MPI_LUSTRE", "PHDF5")),
    _c("global-array", "adios_global_2files", "adios_global.xml", ranks=4),
    _c("global-array", "adios_global_no_xml", ranks=1),  # each writes 240 MB
    _c("global-array", "adios_global_aggregate_by_color", ranks=4),
    _c("global-array", "no_xml_write_byid"),
    _time,
    *_methods(_time, ("POSIX", "MPI_AGGREGATE")),
    _c("global-array-time", "adios_globaltime_no_xml"),
    _c("joined-array", "joined-array", ranks=4),
    _write,
    *_methods(_write, ("POSIX",)),
    _c("manual", "3_adios_read", "config.xml", after="c.manual.2_adios_write", told="rank="),
    _c("manual", "4_adios_nfiles", "config.xml", ranks=6),
    *(_mesh(kind + form) for kind in ("uniform2d", "rectilinear2d", "structured2d", "tri2d") for form in ("", "_noxml")),
    _c("schema", "triangle2d", "triangle2d.xml", ranks=4),
    _c("stat", "stat_write", "stat.xml"),
    _c("time_aggregation", "time_aggregation", "time_aggregation.xml"),
    _c("time_aggregation", "time_aggregation_no_xml"),
    _c("transforms", "adios_global", "adios_global.xml", ranks=4),
    _c("query", "write_vars", ranks=1, sequential=True),
    _c("query", "write_table", ranks=1, sequential=True),
    _f("scalars", "scalars_write", "scalars.xml"),
    _f("arrays", "arrays_write", "arrays.xml", ranks=6),
    _f("global-array", "adios_global", "adios_global.xml", ranks=6),
    _f("global-array", "adios_global_no_xml", ranks=4),
    _f("global-array", "no_xml_write_byid"),
    _f("global-array-time", "adios_globaltime", "adios_globaltime.xml", ranks=6),
    *(_f("schema", program, ranks=6, arguments=("3", "2"))
      for program in ("uniform2d_noxml", "rectilinear2d_noxml", "structured2d_noxml", "tri2d_noxml", "tri2d_noxml_seperate")),
    Judge("coupling.coupling_writer_2D", "coupling/coupling_writer_2D.F90", ranks=4, arguments=("2", "2", "4", "5", "5"),
          inputs=("coupling_writer_2D.xml",), method="MPI", generates=True),
    Judge("staging.genarray_stream", "staging/stage_write/genarray_stream.F90", ranks=4, inputs=("genarray_stream.xml",),
          arguments=("genarray.bp", "2", "2", "1", "4", "3", "2", "3", "0"), method="MPI"),
    Judge("staging.genarray_varying", "staging/stage_write_varyingsize/genarray_varying.F90", ranks=4,
          inputs=("genarray_varying.xml",), arguments=("genarray.bp", "2", "2", "1", "4", "3", "2", "3", "0"), method="MPI"),
    _skel("gts", 3, steps="1", mype="rank", numberpe="size", mgrid="13", mpsi="5", nprobe="4", nrbin="3", nbin_a="2",
          mimax="30", memax="17", sprng_buffer_len="10", **{"mpsi+1": "6"}),
    _skel("s3d", 4, steps="2", nx="3", ny="4", nz="5", gx="3 * size", gy="4", gz="5", lx="3 * rank", ly="0", lz="0"),
    _skel("genarray3d", 3, full_names=True, steps="2", **(_box | {"ndy": "4"})),
    _skel("grapes", 3, full_names=True, steps="2", **(_box | {"ndy": "4"})),
    _skel("geos5", 2, full_names=True, steps="1", **(_box | {"ndy": "4"})),
    _skel("picongpu", 3, steps="2", size_x="2", size_y="3", size_z="4", total_size_x="2 * size", total_size_y="3",
          total_size_z="4", offset_x="2 * rank", offset_y="0", offset_z="0"),
]

# Files with something of everything: read_all prints what it finds in each.
_WRITTEN = {
    "c.scalars.scalars_write": "scalars.bp",
    "c.arrays.arrays_write": "arrays.bp",
    "c.attributes.attributes_write": "attributes.bp",
    "c.global-array.adios_global": "adios_global.bp",
    "c.global-array-time.adios_globaltime": "adios_globaltime.bp",
    "c.global-array-time.adios_globaltime_no_xml": "adios_globaltime.bp",
    "c.global-array.no_xml_write_byid": "no_xml_write_byid.bp",
    "c.joined-array.joined-array": "joined-array.bp",
    "c.schema.uniform2d": "uniform2d.bp",
    "c.time_aggregation.time_aggregation": "diag.bp",
    "c.transforms.adios_global": "adios_global.bp",
    "c.schema.tri2d": "tri2d.bp",
    "fortran.scalars.scalars_write": "scalars.bp",
    "fortran.arrays.arrays_write": "arrays.bp",
    "fortran.global-array.adios_global": "adios_global.bp",
    "fortran.global-array-time.adios_globaltime": "adios_globaltime.bp",
    "coupling.coupling_writer_2D": "writer.bp",
    "staging.genarray_stream": "genarray.bp",
}

# One rank each, or the lines that ranks print would mix.
JUDGES += [
    _reads("scalars", "scalars_read", "c.scalars.scalars_write"),
    _reads("arrays", "arrays_read", "c.arrays.arrays_write"),
    _reads("attributes", "attributes_read", "c.attributes.attributes_write", in_order=False),  # attributes by name here
    _reads("global-array", "adios_read_global", "c.global-array.adios_global"),
    _reads("global-array", "adios_read_chunk", "c.global-array.adios_global"),
    _reads("global-array", "adios_read_gpp", "c.global-array.adios_global"),
    _reads("global-array", "adios_read_writeblock", "c.global-array.adios_global"),
    _reads("global-array", "read_no_xml_write_byid", "c.global-array.no_xml_write_byid"),
    _reads("global-array-time", "adios_read_globaltime", "c.global-array-time.adios_globaltime"),
    _reads("global-array-time", "adios_read_globaltime_streaming", "c.global-array-time.adios_globaltime",
           untold="No new step arrived"),  # the same number, other words
    _reads("transforms", "adios_read_subv", "c.transforms.adios_global"),
    *(_all_of(judge, file) for judge, file in _WRITTEN.items()),
    *(_all_of(judge, _WRITTEN[judge], first_version=True)
      for judge in ("c.arrays.arrays_write", "c.scalars.scalars_write", "c.attributes.attributes_write")),
    Judge("fortran.scalars.scalars_read", "Fortran/scalars/scalars_read.F90", ranks=1, after="fortran.scalars.scalars_write"),
    Judge("fortran.arrays.arrays_read", "Fortran/arrays/arrays_read.F90", ranks=1, after="fortran.arrays.arrays_write"),
]

# No example asks for meshes: a program of ours does, of what the schema's examples write.
def _meshes_of(judge):
    file, extension = os.path.splitext(os.path.basename(judge.source))
    if extension == ".F90":
        file = file.replace("_noxml", "_f_noxml").replace("_seperate", "_sep")
    return Judge(f"meshes.{judge.name}", os.path.join(os.path.dirname(os.path.abspath(__file__)), "meshes.c"), ranks=1,
                 sequential=True, after=judge.name, arguments=(f"{file}.bp",))


JUDGES += [_meshes_of(judge) for judge in JUDGES if "/schema/" in judge.source]

# Examples that are no judges, with the reason.
ELSEWHERE = {
    "C/query/query_*.c": "the original has no method that finds points, and refuses them; tests/adaptable/reading/queries.c asks the same",
    "C/global-array/adios_read_global_no_xml.c": "prints 240 MB",
    "C/read_all/read_all.c of C/stat": "the original's largest value is infinity, and Forebay's the largest finite one",
    "C/read_all/read_all.c of C/query": "the original's library for one process writes its timers as variables",
    "C/stat/stat_read.c": "crashes after the statistics, also with the original: there is no histogram, and it prints one",
    "C/transforms/adios_read_points.c": "the original aborts; Forebay gives the points",
    "C/transforms/adios_read_wb_subpg.c": "the original gives elements 4 to 7 and two zeros for elements 2 to 7; Forebay gives those",
    "C/manual/1_nonadios_example.c": "does not use ADIOS",
    "C/flexpath_arrays": "needs the method FLEXPATH, which Debian does not build",
    "C/icee_arrays": "needs the method ICEE, which Debian does not build",
    "C/global-array with VAR_MERGE": "Debian's library lists the method and refuses it in XML",
    "coupling/coupling_reader_2D.F90, staging/*/stage_write.c": "read with the methods of staging, or what another program is writing",
}
