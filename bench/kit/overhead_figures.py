"""The figures of bench/overhead, out of what was measured: intervals, slowdown by arm, processor time."""
from kit import overhead_plan as plan
from kit.results import Spread

GROUP = ("case", "ranks", "seconds", "intervals", "megabytes")


def groups(log):
    """The runs by case and load, and therein by arm, in the order of the plan."""
    found = {}
    for line in log.lines:
        key = line["key"]
        if "arm" in key:
            arms = found.setdefault(tuple(key[name] for name in GROUP), {})
            arms.setdefault(key["arm"], []).append(line)
    order = [arm.name for arm in plan.ARMS]
    return {group: dict(sorted(arms.items(), key=lambda item: order.index(item[0]))) for group, arms in found.items()}


def intervals(runs):
    """All intervals of all ranks of some runs, sorted."""
    return sorted(seconds for run in runs for rank in run["intervals"] for seconds in rank)


def mean(values):
    return sum(values) / len(values)


def slowdown(runs, baseline):
    """How much longer than without a drain the work took, in percent, run by run. None without a baseline."""
    if not baseline:
        return None
    base = Spread([mean(intervals([run])) for run in baseline]).median
    return Spread([100 * (mean(intervals([run])) / base - 1) for run in runs])


def longer(runs, baseline):
    """The same of the run as a whole, on the clock."""
    if not baseline:
        return None
    base = Spread([run["wall"] for run in baseline]).median
    return Spread([100 * (run["wall"] / base - 1) for run in runs])


def per_gigabyte(runs, name, of="raw"):
    values = [run[name] / (run[of] / 1e9) for run in runs if run.get(of)]
    return Spread(values) if values else None


def title(group):
    case, ranks, seconds, count, megabytes = group
    return f"{case}: {ranks} rank{'s' if ranks > 1 else ''}, {megabytes} MB each, {count} intervals of {seconds:g} s"
