"""The measurements of bench/codecs, looked up by set and arm."""
from kit import codecs_plan as plan
from kit.results import Spread

SKELETONS = "skeletons"


class Sizes:
    """Bytes of some groups of variables, before and after."""

    def __init__(self, rows):
        self.raw, self.stored = (sum(row[what] for row in rows) for what in ("raw", "stored"))
        self.ratio = self.raw / self.stored if self.stored else 0.0


def class_of(row):
    return row["type"], row["dimensions"]


class Costs(Sizes):
    """One arm on some groups of one set: sizes, and speeds in MB of raw data per second of CPU time. What is done once
    for all groups (finding relations, trying interleavings) counts where all of them are asked for."""

    def __init__(self, lines, wanted=None):
        rounds = [[row for row in line["groups"] if wanted is None or class_of(row) == wanted] for line in lines]
        super().__init__(rounds[-1])
        once = [line.get("relations", 0) + line.get("interleave", 0) if wanted is None else 0 for line in lines]
        choosing = [first + sum(row.get("choose", 0) for row in rows) for first, rows in zip(once, rounds)]
        encoding = [sum(row["encode"] for row in rows) for rows in rounds]
        decoding = [sum(row["decode"] for row in rows) for rows in rounds]
        megabytes = self.raw / 1e6
        self.encode = Spread([megabytes / (a + b) for a, b in zip(choosing, encoding)])
        self.encode_alone = Spread([megabytes / b for b in encoding])
        self.decode = Spread([megabytes / a for a in decoding])
        self.choosing_share = Spread([a / (a + b) for a, b in zip(choosing, encoding)])


class Figures:
    def __init__(self, log):
        self._log, self._by_arm = log, {}
        for line in log.lines:
            if "arm" in line["key"]:
                self._by_arm.setdefault((line["key"]["set"], line["key"]["arm"]), []).append(line)
        self.sets = sorted({name for name, _ in self._by_arm})

    def costs(self, name, arm, wanted=None):
        """Of all groups, or of a class of them. None if the arm was not measured on any."""
        lines = self._by_arm.get((name, arm))
        if not lines or not any(wanted is None or class_of(row) == wanted for row in lines[-1]["groups"]):
            return None
        return Costs(lines, wanted)

    def groups(self, name, arm):
        """By name, type and dimensions: one group of variables."""
        lines = self._by_arm.get((name, arm), [])
        return {(row["group"], *class_of(row)): Sizes([row]) for row in lines[-1]["groups"]} if lines else {}

    def classes(self, name):
        """Those that gzip was given, the largest first."""
        lines = self._by_arm.get((name, plan.GZIP))
        rows = lines[-1]["groups"] if lines else []
        return [class_of(row) for row in sorted(rows, key=lambda row: -row["raw"])]

    def select(self, **fields):
        return self._log.select(**fields)
