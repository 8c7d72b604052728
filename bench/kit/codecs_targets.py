"""What the codecs are to reach, and whether the figures meet it. Rows (what, target, measured, met)."""
from kit import codecs_plan as plan

# The least gain of `max` over agnostic gzip -6 on whole sets, container bytes and all, by what the name contains.
MAX_GAIN = {"cosmology": 0.70, "noh": 0.72, "implosion_p32_64r-DD0010": 0.74}

# The ratios of `balanced` before there were codecs of this project's own: it is to be no worse.
BALANCED_BEFORE = {"cosmology_p32_32r-DD0008": 2.107, "cosmology_p32_32r-DD0014": 2.044,
                   "implosion_p32_64r-DD0002": 41.791, "implosion_p32_64r-DD0005": 15.471,
                   "implosion_p32_64r-DD0010": 9.047, "noh3damr_p64_32r-DD0010": 2.070}

# Of `fast` on grids of floating-point numbers, times gzip's ratio: sparse data, a blast, and dense data otherwise.
FAST_RATIO = {"implosion": 1.7, "blast": 1.3, "": 1.25}
FAST_SPEED, FAST_LEAST_SPEED = 1000, 600  # MB/s per core, both ways
BALANCED_SPEED = 3  # times fpzip's
MAX_RATIO, MAX_STRETCH, MAX_SPEED = 1.6, 1.75, 150  # of multi-species data; MB/s per core with the search
CHOOSER_LOSS, CHOOSER_SHARE = 0.02, 0.05


def _matching(table, name):
    return next((value for part, value in table.items() if part in name), None)


def _floats(figures, name):
    return [kind for kind in figures.classes(name) if kind[0].startswith("f")]


def _grids(figures, name):
    return [kind for kind in _floats(figures, name) if kind[1] == "grid"]


def _whole(whole, name):
    rows = []
    gzip = whole.peer(name, plan.GZIP)
    best, usual = whole.usual(name, "max"), whole.usual(name, "balanced")
    target = _matching(MAX_GAIN, name)
    if gzip and best and target:
        gain = best.ratio / gzip.ratio - 1
        rows.append((f"{name}: `max` over agnostic gzip -6, whole set", f">= {target:+.0%}", f"{gain:+.1%}",
                     gain >= target))
    if gzip and best and "cosmology" in name:
        times = best.ratio / gzip.ratio
        rows.append((f"{name}: `max` over agnostic gzip -6, times", f">= {MAX_RATIO} x (stretch {MAX_STRETCH} x)",
                     f"{times:.2f} x", times >= MAX_RATIO))
    before = BALANCED_BEFORE.get(name)
    if usual and before:
        rows.append((f"{name}: ratio of `balanced`, whole set", f">= {before:.3f}, as it was", f"{usual.ratio:.3f}",
                     round(usual.ratio, 3) >= before))
    return rows


def _fast(figures, name):
    costs = figures.costs(name, "fast")
    if not costs:
        return []
    rows = []
    for what, speed in (("compress", costs.encode), ("decompress", costs.decode)):
        least = "" if speed.median >= FAST_SPEED else (
            f" (at least {FAST_LEAST_SPEED}: {'yes' if speed.median >= FAST_LEAST_SPEED else 'no'})")
        rows.append((f"{name}: `fast`, {what}, MB/s per core", f">= {FAST_SPEED}{least}", f"{speed.median:.0f}",
                     speed.median >= FAST_SPEED))
    for kind in figures.classes(name):
        ours, gzip = (figures.costs(name, arm, kind) for arm in ("fast", plan.GZIP))
        least = _matching(FAST_RATIO, name) if kind in _grids(figures, name) else 1
        times = ours.ratio / gzip.ratio
        rows.append((f"{name}: `fast`, ratio of {kind[0]} {kind[1]}s over gzip -6", f">= {least} x", f"{times:.3f} x",
                     times >= least))
    return rows


def _balanced(figures, name):
    rows = []
    for kind in _grids(figures, name):
        ours, theirs = (figures.costs(name, arm, kind) for arm in ("balanced", "fpzip"))
        if not ours or not theirs:
            continue
        rows.append((f"{name}: `balanced` on {kind[0]} grids, ratio beside fpzip's", f">= {theirs.ratio:.3f}",
                     f"{ours.ratio:.3f}", ours.ratio >= theirs.ratio))
        groups = {key: sizes for key, sizes in figures.groups(name, "balanced").items() if key[1:] == kind}
        fpzip = figures.groups(name, "fpzip")
        worse = {key[0]: sizes.stored / fpzip[key].stored - 1 for key, sizes in groups.items()
                 if sizes.stored > fpzip[key].stored}
        worst = max(worse, key=worse.get, default=None)
        rows.append((f"{name}: variables of {kind[0]} grids where `balanced` is larger than fpzip", "none",
                     f"{len(worse)} of {len(groups)}" + (f"; worst {worst} {worse[worst]:+.1%}" if worse else ""),
                     not worse))
        for what in ("encode", "decode"):
            times = getattr(ours, what).median / getattr(theirs, what).median
            rows.append((f"{name}: `balanced` on {kind[0]} grids, speed to {what} beside fpzip's",
                         f">= {BALANCED_SPEED} x", f"{times:.1f} x", times >= BALANCED_SPEED))
    return rows


def _max(figures, name):
    costs = figures.costs(name, "max")
    if not costs:
        return []
    return [(f"{name}: `max` with its search, MB/s per core", f">= {MAX_SPEED}", f"{costs.encode.median:.0f}",
             costs.encode.median >= MAX_SPEED)]


def _chooser(figures, name):
    rows = []
    for profile in plan.PROFILES:
        ours, best = figures.costs(name, profile), figures.costs(name, f"best:{profile}")
        if not ours or not best:
            continue
        loss = ours.stored / best.stored - 1
        share = ours.choosing_share.median
        rows += [(f"{name}: size of `{profile}` beyond the exhaustive choice", f"<= {CHOOSER_LOSS:.0%}", f"{loss:.2%}",
                  loss <= CHOOSER_LOSS),
                 (f"{name}: choosing's share of encoding with `{profile}`", f"<= {CHOOSER_SHARE:.0%}", f"{share:.1%}",
                  share <= CHOOSER_SHARE)]
    return rows


PARTS = {"whole sets": _whole, "`fast`": _fast, "`balanced`": _balanced, "`max`": _max, "chooser": _chooser}


def checks(figures, whole):
    """By part, in the order of the sets."""
    return {title: [row for name in figures.sets for row in part(whole if part is _whole else figures, name)]
            for title, part in PARTS.items()}
