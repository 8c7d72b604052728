"""The report of bench/throughput: a table for each set and place, and the targets."""
from kit import report, throughput_plan as plan
from kit.results import Spread

ZSTD = "tar \\| zstd -T0 -3"


class Timing:
    """One arm on one set in one place."""

    def __init__(self, lines):
        self.count = len(lines)
        self.ratio = lines[-1]["raw"] / lines[-1]["stored"]
        self.raw = lines[-1]["raw"]
        self._lines = lines

    def spread(self, operation, what):
        return Spread([line[operation][what] for line in self._lines])

    def median(self, operation, what):
        return self.spread(operation, what).median

    def peak(self):
        return max(line[operation]["rss"] for line in self._lines for operation in ("pack", "verify", "restore"))


class Timings:
    def __init__(self, log):
        grouped = {}
        for line in log.lines:
            if "place" in line["key"]:
                key = line["key"]
                grouped.setdefault((key["set"], key["place"], key["arm"]), []).append(line)
        self._timings = {key: Timing(lines) for key, lines in grouped.items()}
        self.sets = sorted({key[0] for key in grouped})
        self.same_containers = log.select(check="same containers")

    def get(self, name, place, arm):
        return self._timings.get((name, place, arm))

    def places(self, name):
        return [place for place in ("tmpfs", "disk") if any(key[:2] == (name, place) for key in self._timings)]


def _wall(timing, operation):
    spread = timing.spread(operation, "wall")
    return f"{spread.median:.3f} ({spread.low:.3f}-{spread.high:.3f})"


def arms_table(timings, name, place):
    rows = []
    for arm in plan.ARMS:
        timing = timings.get(name, place, arm.name)
        if timing:
            rows.append([arm.name, f"{timing.ratio:.3f}",
                         *(_wall(timing, operation) for operation in ("pack", "verify", "restore")),
                         *(f"{timing.median(operation, 'cpu'):.3f}" for operation in ("pack", "verify", "restore")),
                         *(f"{timing.median(operation, 'rss') / 2**20:.0f}" for operation in ("pack", "restore")),
                         timing.count])
    return report.table(["arm", "ratio", "pack, s", "verify, s", "restore, s", "pack CPU, s", "verify CPU, s",
                         "restore CPU, s", "pack peak, MiB", "restore peak, MiB", "runs"], rows)


def _beside_zstd(timings, name):
    rows = []
    for place, peer in (("tmpfs", ZSTD), ("disk", ZSTD + " + fsync")):
        ours, theirs = timings.get(name, place, "forebay fast"), timings.get(name, place, peer)
        if ours and theirs:
            times = ours.median("pack", "wall") / theirs.median("pack", "wall")
            rows.append((f"{name}, {place}: wall time of `fast` relative to {peer}", "<= 1", f"{times:.2f}",
                         times <= 1))
            if place == "tmpfs":
                rows.append((f"{name}: ratio of `fast` against zstd -3", f"> {theirs.ratio:.3f}", f"{ours.ratio:.3f}",
                             ours.ratio > theirs.ratio))
    return rows


def _restore_and_pack(timings, name):
    rows = []
    for arm in ("forebay fast", "forebay balanced"):
        for place in timings.places(name):
            timing = timings.get(name, place, arm)
            if timing:
                times = timing.median("restore", "wall") / timing.median("pack", "wall")
                rows.append((f"{name}, {place}: wall time of restore relative to pack, {arm}", "< 1", f"{times:.2f}",
                             times < 1))
    return rows


def _memory(timings, name):
    rows = []
    for arm in plan.ARMS:
        timing = timings.get(name, "tmpfs", arm.name) if arm.name.endswith(plan.MEMORY) else None
        if timing:
            rows.append((f"{name}: peak memory of any operation, {arm.name}", f"<= {plan.MEMORY_BYTES >> 20} MiB",
                         f"{timing.peak() / 2**20:.1f} MiB", timing.peak() <= plan.MEMORY_BYTES))
    return rows


def checks(timings):
    rows = []
    for name in timings.sets:
        rows += _beside_zstd(timings, name) + _restore_and_pack(timings, name) + _memory(timings, name)
    for line in timings.same_containers:
        rows.append((f"{line['key']['set']}: {line['containers']} containers of one process and of two",
                     "the same bytes", "the same" if line["same"] else "different", line["same"]))
    return rows


def _rate(timing, base, operation):
    """MB/s, and how many times the speed of `base` that is."""
    wall = timing.median(operation, "wall")
    return f"{timing.raw / 1e6 / wall:.0f} ({base.median(operation, 'wall') / wall:.2f} x)"


def scaling(timings):
    """One thread, the default threads, and for pack two processes of one thread, on the large set."""
    rows = []
    for name in timings.sets:
        for label, one, others in (("fast", "forebay fast, 1 thread", ["forebay fast"]),
                                   ("balanced", "forebay balanced, 1 thread",
                                    ["forebay balanced", "mpiexec -n 2 forebay balanced, 1 thread"])):
            base = timings.get(name, "tmpfs", one)
            for arm in [one, *others] if base else []:
                timing = timings.get(name, "tmpfs", arm)
                if timing:
                    rows.append([name, arm, *(_rate(timing, base, operation)
                                              for operation in ("pack", "verify", "restore"))])
    return report.table(["set", "arm", "pack, MB/s", "verify, MB/s", "restore, MB/s"], rows, left=2) if rows else ""


def write(log, forebay, directory, document):
    """Writes the report and prints it. Returns TARGET_MISSED if one is."""
    timings = Timings(log)
    if not timings.sets:
        raise SystemExit("nothing was measured")
    rows = checks(timings)
    text = report.machine(forebay, log.build) + "\n### Targets\n\n"
    text += report.table(["what", "target", "measured", ""], [[*row[:3], report.verdict(row[3])] for row in rows],
                         left=1)
    speeds = scaling(timings)
    text += f"\n### More threads, more processes\n\n{speeds}" if speeds else ""
    for name in timings.sets:
        for place in timings.places(name):
            text += f"\n### {name}, {place}\n\n{arms_table(timings, name, place)}"
    (directory / "throughput.md").write_text("# Throughput\n\n" + text)
    if document:
        report.replace_section(document, "throughput", text)
    print(text)
    missed = sum(not row[3] for row in rows)
    print(f"{len(rows) - missed} targets met, {missed} missed")
    return report.TARGET_MISSED if missed else 0
