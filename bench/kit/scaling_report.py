"""The report of bench/scaling: a table for each thing that grows, and the targets."""
from kit import report
from kit.results import Spread

LEAST_EFFICIENCY = 0.9  # of N aggregators, relative to N times one
MOST_GROWTH = 1.1       # of messages and bytes for a rank and set, from the fewest ranks to the most
MOST_SLOWER = 2.0       # the coordinator's time for a rank and set, likewise: its tables outgrow the processor's caches
MIB = 1 << 20


def by(lines, *names):
    """Lines by these fields of their key, in ascending order."""
    found = {}
    for line in lines:
        found.setdefault(tuple(line["key"][name] for name in names), []).append(line)
    return dict(sorted(found.items()))


def spread(lines, value):
    return Spread([value(line) for line in lines])


def drains(lines):
    return Spread([seconds for line in lines for seconds in line["drain"]])


def restarts(lines):
    return spread(lines, lambda line: line["restart"])


def shown(values, scale=1, digits=2):
    return f"{values.median * scale:.{digits}f} ({values.least * scale:.{digits}f}-{values.most * scale:.{digits}f})"


def per_rank(line, what, sets, which):
    return sum(one[what] for one in line[which].values()) / line["key"]["ranks"] / sets


def of_drain(lines, what):
    return spread(lines, lambda line: per_rank(line, what, line["key"]["sets"], "drain_traffic"))


def of_restart(lines, what):
    return spread(lines, lambda line: per_rank(line, what, 1, "restart_traffic"))


def peak(lines, process):
    return max(line[f"{during}_peak"][process] for line in lines for during in ("drain", "restart"))


class Cases:
    def __init__(self, log):
        def of(kind, *names):
            return by(log.select(kind=kind), *names)

        self.limits = {limit: by(lines, "aggregators") for (limit,), lines in of("aggregators", "limit").items()}
        self.ranks, self.control = of("ranks", "ranks"), of("control", "ranks")
        self.transports = {}
        for (transport, files, memory), lines in of("variables", "transport", "ranks", "memory").items():
            self.transports[transport, files, memory] = by(lines, "datasets")


# ---- tables


def speedup(found, count):
    """Of so many aggregators, relative to one; None without one."""
    return drains(found[1,]).median / drains(found[count,]).median if (1,) in found else None


def _aggregators(cases):
    rows = []
    for limit, found in sorted(cases.limits.items(), reverse=True):
        for (count,), lines in found.items():
            times, faster = drains(lines), speedup(found, count)
            bound = f"{lines[-1]['stored'] / 1e6 / (limit * count):.2f}" if limit else ""
            rows.append([f"{limit:g} MB/s each" if limit else "none", count, report.megabytes(lines[-1]["raw"]),
                         report.megabytes(lines[-1]["stored"]), shown(times), f"{faster:.2f}" if faster else "", bound,
                         shown(restarts(lines)), len(lines)])
    return report.table(["limit of the store", "aggregators", "MB", "stored, MB", "drain, s", "times as fast as one",
                         "stored bytes over the limit, s", "restart, s", "runs"], rows)


def _ranks(cases):
    rows = []
    for (ranks,), lines in cases.ranks.items():
        rows.append([ranks, lines[-1]["key"]["nodes"], shown(drains(lines), 1000, 0),
                     f"{drains(lines).median * 1000 / ranks:.2f}", f"{of_drain(lines, 'messages').median:.3f}",
                     f"{of_drain(lines, 'bytes').median:.0f}", shown(restarts(lines), 1000, 0),
                     f"{of_restart(lines, 'messages').median:.3f}", f"{of_restart(lines, 'bytes').median:.0f}", len(lines)])
    return report.table(["ranks", "nodes", "drain, ms", "for a rank", "messages, rank and set", "bytes", "restart, ms",
                         "messages, rank", "bytes", "runs"], rows)


def per_variable(found, datasets):
    """Microseconds that one costs: what the drain takes longer than with the fewest, over how many there are more."""
    few = min(found)
    if (datasets,) == few:
        return None
    longer = drains(found[datasets,]).median - drains(found[few]).median
    files = found[few][-1]["key"]["ranks"]
    return longer / (files * (datasets - few[0])) * 1e6


def _variables(cases):
    rows = []
    for (transport, files, memory), found in cases.transports.items():
        for (datasets,), lines in found.items():
            each = per_variable(found, datasets)
            rows.append([transport, datasets, f"{files} x {lines[-1]['raw'] / files / 1e6:.0f}", shown(drains(lines)),
                         f"{drains(lines).median / (files * datasets) * 1e6:.1f}", f"{each:.1f}" if each is not None else "",
                         shown(restarts(lines)), memory, f"{peak(lines, 'aggregator') / MIB:.0f}",
                         f"{peak(lines, 'agent') / MIB:.0f}", len(lines)])
    return report.table(["transport", "variables of a file", "MB", "drain, s", "for a variable, µs", "for one more, µs",
                         "restart, s", "budget, MiB", "aggregator's peak, MiB", "agent's peak, MiB", "runs"], rows)


def _control(cases):
    rows = [[ranks, *(shown(spread(lines, lambda line: line[what]), 1, digits) for what, digits in
                      (("microseconds", 2), ("messages", 3), ("bytes", 0), ("longest_ms", 1), ("peak_mb", 1))), len(lines)]
            for (ranks,), lines in cases.control.items()]
    return report.table(["simulated ranks", "µs, rank and set", "messages", "bytes", "longest call, ms",
                         "most memory, MB", "runs"], rows)


# ---- targets


def _growth(name, found, value, most):
    """The row that compares the most ranks with the fewest."""
    (few,), (many,) = min(found), max(found)
    if few == many:
        return []
    grown = value(found[many,]) / value(found[few,])
    return [(f"{name}: {many} ranks beside {few}", f"<= {most:g}", f"{grown:.2f}", grown <= most)]


def targets(cases):
    rows = []
    for limit, found in cases.limits.items():
        (count,) = max(found)
        faster = speedup(found, count)
        if limit and count > 1 and faster:
            rows.append((f"{count} aggregators, {limit:g} MB/s each: times as fast as one", f">= {LEAST_EFFICIENCY * count:g}",
                         f"{faster:.2f}", faster >= LEAST_EFFICIENCY * count))
    if cases.ranks:
        rows += _growth("messages for a rank and set", cases.ranks, lambda lines: of_drain(lines, "messages").median, MOST_GROWTH)
        rows += _growth("messages for a rank's restart", cases.ranks, lambda lines: of_restart(lines, "messages").median,
                        MOST_GROWTH)
    for (transport, files, memory), found in cases.transports.items():
        for process in ("aggregator", "agent"):
            most = max(peak(lines, process) for lines in found.values())
            rows.append((f"`{transport}`, {min(found)[0]} to {max(found)[0]} variables: peak memory of the {process}",
                         f"<= {memory} MiB", f"{most / MIB:.0f} MiB", most <= memory * MIB))
    if cases.control:
        for name, what, most in (("messages", "messages", MOST_GROWTH), ("bytes", "bytes", MOST_GROWTH),
                                 ("coordinator's time", "microseconds", MOST_SLOWER)):
            rows += _growth(f"simulated: {name} for a rank and set", cases.control,
                            lambda lines: spread(lines, lambda line: line[what]).median, most)
    return rows


def write(log, forebay, directory, document):
    if not log.lines:
        raise SystemExit("nothing was measured")
    cases = Cases(log)
    rows = targets(cases)
    parts = [report.machine(forebay, log.build), report.table(["what", "target", "median", ""], [[*row[:3], report.verdict(row[3])] for row in rows])]
    parts += [f"### {title}\n\n{table(cases)}" for title, found, table in (
        ("Aggregators", cases.limits, _aggregators), ("Ranks", cases.ranks, _ranks),
        ("Variables", cases.transports, _variables), ("The coordinator alone", cases.control, _control)) if found]
    text = "\n".join(parts)
    (directory / "scaling.md").write_text(f"# Scaling\n\n{text}")
    if document:
        report.replace_section(document, "scaling", text)
    print(text)
    return 0 if all(row[3] for row in rows) else report.TARGET_MISSED
