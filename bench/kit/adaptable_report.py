"""The report of bench/adaptable-io: a table for each workload and place, the whole run, and the targets."""
from kit import adaptable_plan as plan, report
from kit.results import Spread

PLACES = ("memory", "disk", "durable", "pfs")


class Figures:
    def __init__(self, log):
        self._lines = {}
        for line in log.lines:
            key = line["key"]
            group = (key["place"], key["workload"], key["compute"] > 0)
            self._lines.setdefault(group, {}).setdefault((key["ranks"], key["library"], key["method"]), []).append(line)

    def groups(self, is_run):
        """(place, workload) of what there is, in order."""
        found = [group[:2] for group in self._lines if group[2] == is_run]
        return sorted(found, key=lambda g: (PLACES.index(g[0]), plan.WORKLOADS.index(g[1])))

    def ranks(self, group, is_run=False):
        return sorted({ranks for ranks, _, _ in self._lines[(*group, is_run)]})

    def values(self, group, ranks, arm, of, is_run=False):
        lines = self._lines[(*group, is_run)].get((ranks, arm.library, arm.method), [])
        return Spread([of(line) for line in lines]) if lines else None

    def ratio(self, group, ranks, arm):
        """Seconds from open to close over those of write() in the same run."""
        return self.values(group, ranks, arm, lambda line: line["seconds"] / line["plain"])

    def shared_ratio(self, group, ranks, arm):
        """The same over those of write() of all ranks into one file; of what was measured with it."""
        lines = self._lines[(*group, False)].get((ranks, arm.library, arm.method), [])
        ratios = [line["seconds"] / line["shared"] for line in lines if "shared" in line]
        return Spread(ratios) if ratios else None


def _text(spread):
    if not spread:
        return ""
    return f"{spread.median:.2f}" + (f" ({spread.least:.2f} to {spread.most:.2f})" if spread.count > 1 else "")


def _ratio_table(figures, group):
    rows = []
    for arm in plan.ARMS:
        spreads = [figures.ratio(group, ranks, arm) for ranks in figures.ranks(group)]
        if any(spreads):
            rows.append([arm.name, *map(_text, spreads)])
    return report.table(["open to close, write() is 1", *(f"{ranks} ranks" for ranks in figures.ranks(group))], rows)


def _shared_table(figures, group):
    """The methods that share one file, beside write() into one file."""
    rows = []
    for arm in (plan.FOREBAY["MPI"], plan.ADIOS["MPI"], plan.HDF5):
        spreads = [figures.shared_ratio(group, ranks, arm) for ranks in figures.ranks(group)]
        if any(spreads):
            rows.append([arm.name, *map(_text, spreads)])
    return report.table(["open to close, write() of all ranks into one file is 1", *(f"{n} ranks" for n in figures.ranks(group))],
                        rows) if rows else ""


def _memory_table(figures, group):
    """Bytes that a rank takes beside its data, over its data."""
    rows = []
    for arm in plan.ARMS:
        spreads = [figures.values(group, ranks, arm, lambda line: (line["memory"] - line["data"]) / 1e6) for ranks in
                   figures.ranks(group)]
        if any(spreads):
            rows.append([arm.name, *(f"{s.median:.0f}" if s else "" for s in spreads)])
    return report.table(["MB of a rank beside its data", *(f"{ranks} ranks" for ranks in figures.ranks(group))], rows)


def _run_table(figures, group):
    rows = []
    ranks = figures.ranks(group, True)[0]
    without = figures.values(group, ranks, plan.NONE, lambda line: line["whole"], True)
    for arm in plan.RUN_ARMS:
        whole = figures.values(group, ranks, arm, lambda line: line["whole"], True)
        blocked = figures.values(group, ranks, arm, lambda line: line["seconds"], True)
        if whole:
            relative = f"{whole.median / without.median:.3f}" if without else ""
            rows.append([arm.name, f"{whole.median:.3f}", relative, f"{blocked.median:.3f}"])
    return report.table([f"{ranks} ranks", "whole run, s", "without output is 1", "of it from open to close, s"], rows)


def targets(figures):
    rows = []
    for group in figures.groups(False):
        for method in plan.FOREBAY:
            ours = {n: figures.ratio(group, n, plan.FOREBAY[method]) for n in figures.ranks(group)}
            ours = {n: spread.median for n, spread in ours.items() if spread}
            if not ours:
                continue
            place = f"{plan.TITLES[group[1]]}, {group[0]}, {method}"
            wanted = plan.TARGETS[group[1]].get(method)
            if wanted:
                ranks, worst = max(ours.items(), key=lambda item: item[1])
                rows.append((place, f"<= {wanted} of write()", f"{worst:.2f} (at {ranks} ranks)", worst <= wanted))
            shared = {n: figures.shared_ratio(group, n, plan.FOREBAY[method]) for n in ours} if method == "MPI" else {}
            shared = {n: spread.median for n, spread in shared.items() if spread}
            if shared and wanted:
                ranks, worst = max(shared.items(), key=lambda item: item[1])
                rows.append((place, f"<= {wanted} of write() into one file", f"{worst:.2f} (at {ranks} ranks)", worst <= wanted))
            if method in plan.ADIOS:
                theirs = {n: figures.ratio(group, n, plan.ADIOS[method]) for n in ours}
                beside = {n: ours[n] / theirs[n].median for n in ours if theirs[n]}
                if beside:
                    ranks, worst = max(beside.items(), key=lambda item: item[1])
                    rows.append((place, "<= 1 of ADIOS 1.13", f"{worst:.2f} (at {ranks} ranks)", worst <= 1))
    for group in figures.groups(True):
        ranks = figures.ranks(group, True)[0]
        blocked = {m: figures.values(group, ranks, plan.FOREBAY[m], lambda line: line["seconds"], True)
                   for m in ("FOREBAY", "MPI", "POSIX")}
        for method in ("MPI", "POSIX"):
            if blocked["FOREBAY"] and blocked[method]:
                part = blocked["FOREBAY"].median / blocked[method].median
                rows.append((f"time blocked by the asynchronous method, {group[0]}", f"<= {plan.BLOCKED} of {method}", f"{part:.2f}",
                             part <= plan.BLOCKED))
    return rows


def write(log, directory, document):
    figures = Figures(log)
    rows = targets(figures)
    parts = ["### Targets of adaptable writing\n", report.table(["what", "target", "worst", ""],
                                                                [[*row[:3], report.verdict(row[3])] for row in rows])]
    for group in figures.groups(False):
        parts += [f"### {plan.TITLES[group[1]]}, {group[0]}\n", _ratio_table(figures, group), _shared_table(figures, group),
                  _memory_table(figures, group)]
    for group in figures.groups(True):
        parts += [f"### Whole run, {group[0]}\n", _run_table(figures, group)]
    text = "\n".join(parts)
    (directory / "adaptable-io.md").write_text(text)
    from kit import adaptable_plots
    adaptable_plots.draw(figures, directory)
    if document:
        report.replace_section(document, "adaptable-io", text)
        adaptable_plots.draw(figures, document.parent / "figures")
    print(text)
    return 0 if all(row[3] for row in rows) else report.TARGET_MISSED
