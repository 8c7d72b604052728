"""Carries out the measurements of bench/compression and checks every round trip."""
import json
import shutil

from kit import measure, workspace


class WrongBytes(Exception):
    pass


def check(before, after, what, metadata=True):
    said = workspace.difference(before, after, metadata)
    if said:
        raise WrongBytes(f"{what}: {said}")


class Runner:
    def __init__(self, forebay, work, results):
        self._forebay, self._work, self._results = str(forebay), work, results
        self._joined = {}

    def forebay(self, data, config):
        store, back = self._work / "store", self._work / "back"
        workspace.remove(store, back)
        pack = measure.run([self._forebay, "pack", str(data.path), "--store", str(store), "--name", "set", "--threads",
                            "1", "--json", *config.words()])
        report = json.loads(pack.output)
        restore = measure.run([self._forebay, "restore", "set", "--store", str(store), "--to", str(back), "--threads",
                               "1"])
        check(data.path, back, f"{data.name} {config}")
        self._results.add(config.key(), raw=data.raw_bytes, stored=workspace.bytes_below(store),
                          index=report["index_bytes"], encode_cpu=report["cpu_seconds_by_stage"]["encode"],
                          compress=pack.record(), decompress=restore.record(), **self._variables(store))
        workspace.remove(store, back)

    def _variables(self, store):
        """The bytes of the variables alone, without skeletons and indices, as codecs.md counts."""
        said = measure.run([self._forebay, "info", str(store), "set", "--groups", "--json"])
        groups = [group for group in json.loads(said.output)["groups"]]
        return {"variable_raw": sum(group["raw_bytes"] for group in groups),
                "variable_stored": round(sum(group["stored_bytes"] for group in groups))}

    def peer(self, data, peer):
        if not shutil.which(peer.program):
            return
        if peer.needs == "files":
            self._repack(data, peer)
        else:
            self._filter(data, peer)

    def _filter(self, data, peer):
        """A peer that compresses one stream: all files of the set, one after another."""
        raw, out, back = self._concatenation(data), self._work / "peer", self._work / "peer.back"
        names = {"raw": raw, "out": out, "back": back}
        compress = measure.run(peer.compress.format(**names))
        decompress = measure.run(peer.decompress.format(**names))
        check(raw, back, f"{data.name} {peer.name}", metadata=False)
        self._results.add({"arm": peer.name, "set": data.name}, raw=data.raw_bytes, stored=out.stat().st_size,
                          compress=compress.record(), decompress=decompress.record())
        workspace.remove(out, back)

    def _repack(self, data, peer):
        """h5repack: a file for a file; the logical content is compared, since the bytes are others by design."""
        out = self._work / "peer"
        out.mkdir()
        compress = measure.run(peer.compress.format(dir=data.path, out=out))
        repacked = workspace.files_below(out)
        first_time = self._results.count({"arm": peer.name, "set": data.name}) == 0
        if first_time:
            for file in repacked:
                measure.run(["h5diff", "-q", str(data.path / file.name), str(file)])
        stored = workspace.bytes_below(out) + sum(file.stat().st_size for file in workspace.files_below(data.path)
                                                  if not (out / file.name).exists())
        self._results.add({"arm": peer.name, "set": data.name}, raw=data.raw_bytes, stored=stored,
                          compress=compress.record(), decompress=None)
        workspace.remove(out)

    def _concatenation(self, data):
        if data.name not in self._joined:
            path = self._work / f"{data.name}.joined"
            with open(path, "wb") as joined:
                for file in workspace.files_below(data.path):
                    with open(file, "rb") as part:
                        shutil.copyfileobj(part, joined, workspace.CHUNK)
            self._joined[data.name] = path
        return self._joined[data.name]
