"""The report of bench/growth/ranks: a table and a plot for each thing that grows."""
from kit import growth_run as run, report
from kit.results import Spread

MIB = 1 << 20
TITLES = {"files": "Files", "variables": "Variables"}
AXES = {"files": "files", "variables": "variables"}


def amount(kind, line):
    """How much there is of what grows."""
    key = line["key"]
    return key["files"] * (key["variables"] if kind == "variables" else 1)


def by_amount(log, kind):
    found = {}
    for line in log.select(kind=kind):
        found.setdefault(amount(kind, line), []).append(line)
    return dict(sorted(found.items()))


def median(lines, operation, what):
    return Spread([line["operations"][operation][what] for line in lines]).median


def peak(lines, operation):
    return max(line["operations"][operation]["rss"] for line in lines)


def calls(lines, operation):
    counted = [line["calls"][operation] for line in lines if operation in line["calls"]]
    return counted[-1] if counted else None


def _table(found, value):
    amounts = list(found)
    rows = [[operation, *(value(found[count], operation) for count in amounts)] for operation in run.OPERATIONS]
    return report.table(["", *(f"{count:,}" for count in amounts)], rows)


def _section(kind, found):
    parts = [f"### {TITLES[kind]}\n"]
    for title, value in (
            (f"Processor seconds, by {AXES[kind]}", lambda lines, name: f"{median(lines, name, 'cpu'):.2f}"),
            (f"Peak memory in MiB, by {AXES[kind]}", lambda lines, name: f"{peak(lines, name) / MIB:.0f}"),
            (f"System calls, by {AXES[kind]}",
             lambda lines, name: "" if calls(lines, name) is None else f"{calls(lines, name):,}")):
        parts.append(f"{title}:\n\n{_table(found, value)}")
    return "\n".join(parts)


def targets(found):
    """Everything with a budget keeps it."""
    rows = []
    for count, lines in found.get("variables", {}).items():
        budget = lines[-1]["key"]["memory"]
        most = max(peak(lines, operation) for operation in run.OPERATIONS)
        rows.append((f"{count:,} variables: peak memory of all operations", f"<= {budget} MiB", f"{most / MIB:.1f} MiB",
                     most <= budget * MIB))
    return rows


def write(log, forebay, directory, document):
    found = {kind: cases for kind in TITLES if (cases := by_amount(log, kind))}
    if not found:
        raise SystemExit("nothing was measured")
    rows = targets(found)
    text = "\n".join([report.machine(forebay, log.build),
                      report.table(["what", "target", "measured", ""], [[*row[:3], report.verdict(row[3])] for row in rows]),
                      *(_section(kind, cases) for kind, cases in found.items())])
    (directory / "growth.md").write_text(f"# Growth\n\n{text}")
    from kit import growth_plots
    growth_plots.draw(found, directory / "plots")
    if document:
        report.replace_section(document, "growth", text)
        growth_plots.draw(found, document.parent / "benchmarks" / "figures")
    print(text)
    return 0 if all(row[3] for row in rows) else report.TARGET_MISSED
