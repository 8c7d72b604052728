"""Where the processor's time goes: samples of perf, by what the function that was hit is for."""
import re

from kit import measure

RUNS = 8  # of the command, for enough samples
FREQUENCY = 4000

# The first that matches "library symbol" counts.
PURPOSES = (
    ("relations: search and prediction", r"NormalEquations|inner_product|[Rr]elation|::Fitter::"),
    ("stencils: sampling and fitting", r"Fitter<|Sampler|fitted::|Accumulate|Predict|fit_places|least_squares"),
    ("halos: search and removal", r"codec::.*(Search<|Cover|[Hh]alo|Copies|Probe)"),
    ("prediction: Lorenzo and stencils", r"codec::.*(Walk<|Forward|Lorenzo)"),
    ("lch", r"lch::|prefix_code|PrefixCode"),
    ("zstd", r"libzstd"),
    ("byte and bit planes", r"planes|huffle"),
    ("checksums and characteristics", r"libxxhash|libisal|container::.*scan|crc"),
    ("kernel: fresh memory", r"kernel.*(clear_page|fault|zap_|free_|alloc|lru_|charge|rmqueue|release_pages|pte)"),
    ("kernel: files and the rest", r"kernel"),
    ("copies of memory", r"libc.*mem"),
)
OTHER = "other"


def purpose_of(text):
    return next((name for name, pattern in PURPOSES if re.search(pattern, text)), OTHER)


def shares(command, data):
    """Runs `command` several times under perf. Maps purposes to their shares of the samples in the command itself."""
    measure.run(f"perf record -q -F {FREQUENCY} -e cpu-clock -o {data} -- "
                f"bash -ec 'for i in $(seq {RUNS}); do {command}; done'")
    said = measure.run(f"perf report -i {data} --stdio --comms forebay --sort dso,symbol 2>/dev/null").output
    data.unlink()
    found = {}
    for line in said.splitlines():
        hit = re.match(r"\s*([\d.]+)%\s+(.*)", line)
        if hit:
            purpose = purpose_of(hit.group(2))
            found[purpose] = found.get(purpose, 0.0) + float(hit.group(1))
    total = sum(found.values())
    return {purpose: share / total for purpose, share in found.items()}
