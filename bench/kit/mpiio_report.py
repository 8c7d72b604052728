"""The report of bench/mpiio: a table and a plot for each setting and workload, and the targets."""
from kit import mpiio_plan as plan, report
from kit.results import Spread


class Speeds:
    def __init__(self, log):
        self._values = {}
        for line in log.lines:
            key = line["key"]
            for phase in ("write", "read"):
                if phase in line:
                    place = self._values.setdefault((key["setting"], key["workload"], phase), {})
                    place.setdefault((key["ranks"], key["arm"]), []).extend(line[phase])

    def cases(self):
        """(setting, workload, phase), in the order of the plan."""
        settings = ("local", "link", "pfs")
        return sorted(self._values, key=lambda case: (settings.index(case[0]), plan.WORKLOADS.index(case[1]),
                                                      case[2] != "write"))

    def ranks(self, case):
        return sorted({ranks for ranks, _ in self._values[case]})

    def spread(self, case, ranks, arm):
        values = self._values[case].get((ranks, arm.name))
        return Spread(values) if values else None

    def relative(self, case, ranks, arm, other=plan.NO_LOCK):
        ours, theirs = self.spread(case, ranks, arm), self.spread(case, ranks, other)
        return ours.median / theirs.median if ours and theirs else None


def _table(speeds, case):
    rows = []
    for arm in plan.ARMS:
        cells = []
        for ranks in speeds.ranks(case):
            spread = speeds.spread(case, ranks, arm)
            relative = speeds.relative(case, ranks, arm)
            cells.append(f"{spread.median:.0f} ±{spread.percent:.0f} % ({relative:.2f})"
                         if spread and relative is not None else "")
        rows.append([arm.name, *cells])
    return report.table(["MB/s (relative to no lock)", *(f"{ranks} ranks" for ranks in speeds.ranks(case))], rows)


def _at_least(label, wanted, values):
    values = {ranks: value for ranks, value in values.items() if value is not None}
    if not values:
        return []
    ranks, worst = min(values.items(), key=lambda item: item[1])
    return [(label, f">= {wanted}", f"{worst:.2f} (at {ranks} ranks)", worst >= wanted)]


def targets(speeds):
    rows = []
    for case in speeds.cases():
        setting, workload, phase = case
        name = f"{plan.TITLES[workload]}, {phase}, {setting}: "
        everywhere = {ranks: speeds.relative(case, ranks, plan.LIST) for ranks in speeds.ranks(case)}
        if setting == "link":
            rows += _at_least(name + "list beside no lock", 0.95, everywhere)
            if workload != "tile" and phase == "write":
                over = {ranks: speeds.relative(case, ranks, plan.LIST, plan.RANGE) for ranks in speeds.ranks(case)}
                rows += _at_least(name + "list over byte range", 2, over)
        if setting == "local":
            rows += _at_least(name + "list beside no lock", 0.9, everywhere)
            over = {ranks: speeds.relative(case, ranks, plan.LIST, plan.ROMIO_ATOMIC) for ranks in speeds.ranks(case)}
            rows += _at_least(name + "list over ROMIO's atomic mode", 1, over)
    return rows


def write(log, directory, document):
    speeds = Speeds(log)
    rows = targets(speeds)
    parts = ["### Targets of the locks\n", report.table(["what", "target", "worst", ""],
                                                        [[*row[:3], report.verdict(row[3])] for row in rows], left=1)]
    for case in speeds.cases():
        setting, workload, phase = case
        parts.append(f"### {plan.TITLES[workload]}, {phase}, {setting}\n")
        parts.append(_table(speeds, case))
    text = "\n".join(parts)
    (directory / "mpiio.md").write_text(text)
    from kit import mpiio_plots
    mpiio_plots.draw(speeds, directory)
    if document:
        report.replace_section(document, "mpiio", text)
        mpiio_plots.draw(speeds, document.parent / "figures")
    print(text)
    return 0 if all(row[3] for row in rows) else report.TARGET_MISSED
