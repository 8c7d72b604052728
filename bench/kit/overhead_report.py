"""The report of bench/overhead: slowdown by arm, sorted intervals, processor time of the daemons, and the targets."""
from kit import overhead_plan as plan, report
from kit.results import Spread

MOST_SLOWDOWN = 1.0  # percent
MOST_AGENT_CPU = {plan.SAME_NODE.name: 0.03, plan.OTHER_NODE.name: 0.3}  # seconds per GB
PER_GIGABYTE = (("agent", "raw"), ("aggregator", "raw"), ("removal", "removed"))
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


def _percent(spread):
    return f"{spread.median:+.2f} ({spread.least:+.2f} to {spread.most:+.2f})" if spread else ""


def _seconds(spread):
    return f"{spread.median:.3f}" if spread else ""


def _table(arms):
    baseline = arms.get(plan.NO_DRAIN.name)
    rows = []
    for arm, runs in arms.items():
        spread = Spread(intervals(runs))
        drained = f"{mean([run['sets'] for run in runs]):.1f}" if "sets" in runs[0] else ""
        rows.append([arm, len(runs), f"{spread.least:.3f}", f"{spread.median:.3f}", f"{spread.most:.3f}",
                     _percent(slowdown(runs, baseline)), _percent(longer(runs, baseline)), drained,
                     *[_seconds(per_gigabyte(runs, f"{name}_cpu", of)) for name, of in PER_GIGABYTE]])
    return report.table(["arm", "runs", "shortest interval, s", "median", "longest", "intervals longer by %",
                         "whole run longer by %", "sets drained", *[f"{name}, CPU s/GB" for name, _ in PER_GIGABYTE]], rows)


def targets(found):
    rows = []
    for group, arms in found.items():
        case, ranks, interval, _, megabytes = group
        for arm, most in MOST_AGENT_CPU.items():
            if arm not in arms:
                continue
            name = f"{case}, {ranks} rank{'s' if ranks > 1 else ''}, {megabytes} MB each {interval:g} s, {arm}: "
            slower = slowdown(arms[arm], arms.get(plan.NO_DRAIN.name))
            if slower and case == "own cores":
                rows.append((name + "intervals longer by", f"< {MOST_SLOWDOWN:g} %", f"{slower.median:+.2f} %",
                             slower.median < MOST_SLOWDOWN))
            cpu = per_gigabyte(arms[arm], "agent_cpu")
            if cpu:
                rows.append((name + "agent's CPU time per GB", f"< {most:g} s", f"{cpu.median:.3f} s", cpu.median < most))
    return rows


def title(group):
    case, ranks, seconds, count, megabytes = group
    return f"{case}: {ranks} rank{'s' if ranks > 1 else ''}, {megabytes} MB each, {count} intervals of {seconds:g} s"


def write(log, directory, document):
    found = groups(log)
    rows = targets(found)
    parts = []
    if rows:
        parts += ["### Targets of the drain\n",
                  report.table(["what", "target", "median", ""], [[*row[:3], report.verdict(row[3])] for row in rows])]
    for group, arms in found.items():
        parts += [f"### {title(group)}\n", _table(arms)]
    text = "\n".join(parts)
    (directory / "overhead.md").write_text(text)
    from kit import overhead_plots
    overhead_plots.draw(found, directory)
    if document:
        report.replace_section(document, "overhead", text)
        overhead_plots.draw(found, document.parent / "figures")
    print(text)
    return 0 if all(row[3] for row in rows) else report.TARGET_MISSED
