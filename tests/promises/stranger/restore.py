"""A whole set: what its files are, byte for byte."""

from collections import Counter
from pathlib import Path

from . import codecs, manifest, others
from .container import read_container, require
from .libs import hash64
from .plan import frames_of, shape_of


class Reader:
    """Of one store. `used` counts the frames by the names of the codecs that they went through."""

    def __init__(self, store):
        self.store, self.used, self.opened = Path(store), Counter(), {}

    def container(self, set_name, name):
        key = (set_name, name)
        if key not in self.opened:
            container = read_container(self.store / "sets" / set_name / name)
            container.plan, container.decoded = list(frames_of(container)), {}
            sizes = [sum(end - begin for _, begin, end in frame.parts) for frame in container.plan]
            require(sizes == container.frame_raw_bytes, "the frame table is not that of the plan")
            self.opened[key] = container
        return self.opened[key]

    def frame(self, container, number):
        if number not in container.decoded:
            container.decoded[number] = self.decode(container, number)
        return container.decoded[number]

    def decode(self, container, number):
        references, raw_bytes, raw_hash, recipe, payload = container.frame(number)
        stages = codecs.parse_recipe(recipe)
        self.used.update(codecs.names(stages) or {"none"})
        if stages and codecs.NAMES[stages[0][0]] == "base":
            data = self.elsewhere(others.parse_base(stages[0][3]))
        else:
            kind, blocks = shape_of(container.plan[number])
            needed = [self.frame(container, reference) for reference in references]
            if stages and codecs.NAMES[stages[0][0]] == "before":
                require(stages[0][1:3] == (0, 0), "a frame before")
                needed.append(self.elsewhere(others.parse_base(stages.pop(0)[3])))
            data = codecs.decode(payload, stages, kind, blocks, needed)
        require(len(data) == raw_bytes and hash64(data) == raw_hash, f"frame {number} decodes to something else")
        return data

    def elsewhere(self, base):
        require(manifest.is_set_name(base.set) and manifest.is_set_name(base.container), "the names of a reference")
        container = self.container(base.set, base.container)
        require(container.id == base.container_id, "the container that a reference means")
        return self.frame(container, base.number)

    def restore(self, set_name):
        """(kind, mode, mtime in ns, content or link target) by name; the mtimes of links do not come back."""
        body, files = manifest.read(self.store, set_name), {}
        for entry in body["containers"]:
            container = self.container(set_name, entry["name"])
            require(len(container.data) == entry["bytes"], "the size of a container")
            require(manifest.tail_hash(container.data) == entry["tail_hash"], "the tail of a container")
            require(len(container.files) == entry["files"], "the number of files")
            require(sum(file.size for file in container.files) == entry["raw_bytes"], "the sizes of the files")
            contents = [bytearray(file.size) for file in container.files]
            for number, frame in enumerate(container.plan):
                data, at = self.frame(container, number), 0
                for stream, begin, end in frame.parts:
                    for offset, length in stream.ranges(begin, end):
                        contents[stream.file][offset : offset + length] = data[at : at + length]
                        at += length
            for file, content in zip(container.files, contents, strict=True):
                files[file.name] = describe(file, bytes(content))
        return files


def describe(file, content):
    time = None if file.kind == 2 else file.mtime * 10**9 + file.mtime_ns
    return ("file", "directory", "link")[file.kind], file.mode, time, file.link_target or content
