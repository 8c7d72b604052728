"""The targets of docs/benchmarks.md that concern ratio and speed, and whether the figures meet them."""
from kit.report import table, verdict

# The least gain over agnostic gzip -6, by what the set's name contains.
LEAST_GAIN = {"cosmology": 0.22, "noh": 0.65, "implosion_p32_64r-DD0010": 0.70}
LEAST_SPEED = 20  # times gzip's compression speed, CPU time per core

# What a study of the paper's pipeline found on the same sets, bytes of variables only (ratio, of gzip -6 likewise).
STUDY = {"noh3damr_p64_32r-DD0010": (1.486, 1.167), "implosion_p32_64r-DD0010": (6.736, 5.211),
         "cosmology_p32_32r-DD0008": (1.840, 1.581), "cosmology_p32_32r-DD0014": (1.767, 1.529)}
NEAR = 0.05


def least_gain(name):
    return next((gain for part, gain in LEAST_GAIN.items() if part in name), None)


def _against_gzip(figures, name, profile, group):
    target = least_gain(name)
    ours, gzip = figures.forebay(name, profile, "auto", group), figures.peer(name, "gzip -6")
    if target is None or not ours or not gzip:
        return []
    gain = ours.ratio / gzip.ratio - 1
    whole, coding = (speed.median / gzip.compress.median for speed in (ours.compress, ours.encode))
    what = f"`{profile}` on {name}, {group} ranks a group"
    return [(f"{what}: ratio above gzip -6", f">= {target:+.0%}", f"{gain:+.1%}", gain >= target),
            (f"{what}: speed of the encoding stage per core", f">= {LEAST_SPEED} x gzip", f"{coding:.1f} x",
             coding >= LEAST_SPEED),
            (f"{what}: speed of the whole command per core", f">= {LEAST_SPEED} x gzip", f"{whole:.1f} x",
             whole >= LEAST_SPEED)]


def _paper(figures, name):
    ours = figures.usual(name, "paper", scheme="aware")
    if name not in STUDY or not ours or not ours.variable_ratio:
        return []
    wanted = STUDY[name][0]
    away = ours.variable_ratio / wanted - 1
    return [(f"`paper` on {name}: ratio of the variables", f"{wanted:.3f}, or at most {NEAR:.0%} less",
             f"{ours.variable_ratio:.3f} ({away:+.1%})", away >= -NEAR)]


def checks(figures):
    """Rows (what, target, measured, met)."""
    rows = []
    for name in figures.sets:
        groups = figures.groups(name)
        for profile in ("fast", "balanced") if groups else ():
            for group in sorted({figures.usual_group(name), groups[-1]}):
                rows += _against_gzip(figures, name, profile, group)
        rows += _paper(figures, name)
    return rows


def checks_table(rows):
    return table(["what", "target", "measured", ""], [[*row[:3], verdict(row[3])] for row in rows], left=2)

