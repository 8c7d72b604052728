"""The report of bench/overhead: slowdown by arm, sorted intervals, processor time of the daemons, and the targets."""
from kit import overhead_figures as figures, overhead_plan as plan, report
from kit.results import Spread

MOST_SLOWDOWN = 1.0  # percent
MOST_AGENT_CPU = {plan.SAME_NODE.name: 0.03, plan.OTHER_NODE.name: 0.3}  # seconds per GB
PER_GIGABYTE = (("agent", "raw"), ("aggregator", "raw"), ("removal", "removed"))


def _percent(spread):
    return f"{spread.median:+.2f} ({spread.least:+.2f} to {spread.most:+.2f})" if spread else ""


def _seconds(spread):
    return f"{spread.median:.3f}" if spread else ""


def _table(arms):
    baseline = arms.get(plan.NO_DRAIN.name)
    rows = []
    for arm, runs in arms.items():
        spread = Spread(figures.intervals(runs))
        drained = f"{figures.mean([run['sets'] for run in runs]):.1f}" if "sets" in runs[0] else ""
        rows.append([arm, len(runs), f"{spread.least:.3f}", f"{spread.median:.3f}", f"{spread.most:.3f}",
                     _percent(figures.slowdown(runs, baseline)), _percent(figures.longer(runs, baseline)), drained,
                     *[_seconds(figures.per_gigabyte(runs, f"{name}_cpu", of)) for name, of in PER_GIGABYTE]])
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
            slower = figures.slowdown(arms[arm], arms.get(plan.NO_DRAIN.name))
            if slower and case == "own cores":
                rows.append((name + "intervals longer by", f"< {MOST_SLOWDOWN:g} %", f"{slower.median:+.2f} %",
                             slower.median < MOST_SLOWDOWN))
            cpu = figures.per_gigabyte(arms[arm], "agent_cpu")
            if cpu:
                rows.append((name + "agent's CPU time per GB", f"< {most:g} s", f"{cpu.median:.3f} s", cpu.median < most))
    return rows


def write(log, directory, document):
    found = figures.groups(log)
    rows = targets(found)
    parts = []
    if rows:
        parts += ["### Targets of the drain\n",
                  report.table(["what", "target", "median", ""], [[*row[:3], report.verdict(row[3])] for row in rows])]
    for group, arms in found.items():
        parts += [f"### {figures.title(group)}\n", _table(arms)]
    text = "\n".join(parts)
    (directory / "overhead.md").write_text(text)
    from kit import overhead_plots
    overhead_plots.draw(found, directory)
    if document:
        report.replace_section(document, "overhead", text)
        overhead_plots.draw(found, document.parent / "figures")
    print(text)
    return 0 if all(row[3] for row in rows) else report.TARGET_MISSED
