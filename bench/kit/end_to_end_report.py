"""The report of bench/end-to-end: a table for each set, and the targets."""
from kit import end_to_end_plan as plan, report
from kit.results import Spread

# The paper's best reductions against NoC+NoAgg (section 7.3).
CHECKPOINT_REDUCTION, RESTART_REDUCTION = 87, 62
BOUND_SLACK = 1.10


class Times:
    def __init__(self, log):
        self._lines = {}
        for line in log.lines:
            self._lines.setdefault((line["key"]["set"], line["key"]["arm"]), []).append(line)
        self.sets = list(dict.fromkeys(name for name, _ in self._lines))

    def spread(self, name, arm, what):
        lines = self._lines.get((name, arm.name))
        return Spread([line[what] for line in lines]) if lines else None

    def step(self, name, arm, what, step):
        """The median of one step, in seconds."""
        return Spread([line[what][step] for line in self._lines[name, arm.name]]).median

    def last(self, name, arm):
        lines = self._lines.get((name, arm.name))
        return lines[-1] if lines else None

    def reduction(self, name, arm, what):
        """In per cent of the baseline."""
        ours, theirs = self.spread(name, arm, what), self.spread(name, plan.BASELINE, what)
        return 100 * (1 - ours.median / theirs.median) if ours and theirs else None


def _cells(times, name, arm, what):
    spread = times.spread(name, arm, what)
    reduction = times.reduction(name, arm, what)
    return [f"{1000 * spread.median:.0f} ±{spread.percent:.0f} %" if spread else "",
            f"{reduction:.0f} %" if reduction is not None and arm is not plan.BASELINE else ""]


def _table(times, name):
    rows = []
    for arm in plan.ARMS:
        line = times.last(name, arm)
        if line:
            rows.append([arm.name, line["files"], report.megabytes(line["stored"]), *_cells(times, name, arm, "checkpoint"),
                         *_cells(times, name, arm, "restart")])
    return report.table(["", "files", "MB", "checkpoint, ms", "less", "restart, ms", "less"], rows)


# On the clock, one after another; what is left of the whole is telling each other. Then processor time, of all threads.
CHECKPOINT_STEPS = ("gather", "stage", "pack", "commit")
RESTART_STEPS = ("gather", "list", "deliver", "publish")
CPU_STEPS = ("fetch", "encode", "write")


def _steps(times, name):
    rows = []
    for arm in plan.ARMS:
        line = times.last(name, arm)
        if not line or "checkpoint_steps" not in line:
            continue
        cells = [arm.name]
        for what, steps in (("checkpoint", CHECKPOINT_STEPS), ("restart", RESTART_STEPS)):
            medians = [times.step(name, arm, f"{what}_steps", step) for step in steps]
            cells += [*medians, times.spread(name, arm, what).median - sum(medians)]
        cells += [times.step(name, arm, "cpu", step) for step in CPU_STEPS]
        rows.append([cells[0], *[f"{1000 * seconds:.0f}" for seconds in cells[1:]]])
    if not rows:
        return ""
    headers = ["median, ms", *CHECKPOINT_STEPS, "rest", *[f"restart: {step}" for step in RESTART_STEPS], "rest",
               *[f"CPU: {step}" for step in CPU_STEPS]]
    return "\n" + report.table(headers, rows)


def _bound(line):
    """The seconds that the stored bytes take at the file system's rate."""
    return line["stored"] / 1e6 / line["rate"]


def targets(times):
    rows = []
    for name in times.sets:
        line = times.last(name, plan.FOREBAY)
        if not line:
            continue
        if name.startswith("large"):
            if line["rate"]:
                for what in ("checkpoint", "restart"):
                    share = times.spread(name, plan.FOREBAY, what).median / _bound(line)
                    rows.append((f"{name}: {what} beside bytes over rate", f"<= {BOUND_SLACK}", f"{share:.2f}",
                                 share <= BOUND_SLACK))
            continue
        for what, wanted in (("checkpoint", CHECKPOINT_REDUCTION), ("restart", RESTART_REDUCTION)):
            got = times.reduction(name, plan.FOREBAY, what)
            if got is not None:
                rows.append((f"{name}: {what}, less than NoC+NoAgg", f">= {wanted} %", f"{got:.0f} %", got >= wanted))
    return rows


def write(log, directory, document):
    times = Times(log)
    rows = targets(times)
    parts = [report.table(["what", "target", "median", ""], [[*row[:3], report.verdict(row[3])] for row in rows])]
    parts += [f"#### {name}\n\n{_table(times, name)}{_steps(times, name)}" for name in times.sets]
    text = "\n".join(parts)
    (directory / "end-to-end.md").write_text(text)
    if document:
        report.replace_section(document, "end-to-end", text)
    print(text)
    return 0 if all(row[3] for row in rows) else report.TARGET_MISSED
