"""The measurements of bench/compression, looked up by configuration."""
from kit import compression_plan as plan
from kit.results import Spread


class Figure:
    """One arm on one set: its sizes, and its speeds in MB of raw data per second of CPU time."""

    def __init__(self, lines):
        last = lines[-1]
        self.raw, self.stored, self.index = last["raw"], last["stored"], last.get("index")
        self.ratio = self.raw / self.stored
        self.compress = Spread([self.raw / 1e6 / line["compress"]["cpu"] for line in lines])
        self.compress_wall = Spread([self.raw / 1e6 / line["compress"]["wall"] for line in lines])
        encoded = [line["encode_cpu"] for line in lines if line.get("encode_cpu")]
        self.encode = Spread([self.raw / 1e6 / seconds for seconds in encoded]) if encoded else None
        done = [line["decompress"] for line in lines if line["decompress"]]
        self.decompress = Spread([self.raw / 1e6 / one["cpu"] for one in done]) if done else None
        self.decompress_wall = Spread([self.raw / 1e6 / one["wall"] for one in done]) if done else None
        stored = last.get("variable_stored")
        self.variable_ratio = last["variable_raw"] / stored if stored else None


class Figures:
    def __init__(self, log):
        self._by_arm = {}
        for line in log.lines:
            self._by_arm.setdefault(tuple(sorted(line["key"].items())), []).append(line)
        self._figures = {arm: Figure(lines) for arm, lines in self._by_arm.items()}
        self.sets = sorted({line["key"]["set"] for line in log.lines})

    def get(self, **key):
        return self._figures.get(tuple(sorted(key.items())))

    def peer(self, name, peer):
        return self.get(arm=peer, set=name)

    def forebay(self, name, profile, scheme, group, block=plan.USUAL_BLOCK):
        return self.get(**plan.Config(name, profile, scheme, group, block).key())

    def groups(self, name):
        return sorted({dict(arm)["group"] for arm in self._by_arm
                       if dict(arm)["set"] == name and dict(arm)["arm"] == "forebay"})

    def usual_group(self, name):
        return max((group for group in self.groups(name) if group <= plan.USUAL_GROUP), default=None)

    def usual(self, name, profile, scheme="auto"):
        """At the usual group size; under `auto` where that scheme was not measured (a quick run)."""
        group = self.usual_group(name)
        return self.forebay(name, profile, scheme, group) or self.forebay(name, profile, "auto", group)

    def cases(self):
        """Sets of one case, in the order of their steps."""
        cases = {}
        for name in self.sets:
            cases.setdefault(name.split("-")[0], []).append(name)
        return cases
