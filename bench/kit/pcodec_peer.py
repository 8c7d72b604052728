"""Compresses dumped frames with pcodec, each by itself, and prints the sums by class as JSON.
Runs in an environment of its own (kit/codecs_run.py makes it). Usage: pcodec_peer.py DUMP TYPE..."""
import json
import sys
import time
from pathlib import Path

import numpy
from pcodec import ChunkConfig, standalone


def measure(path, dtype):
    numbers = numpy.fromfile(path, dtype)
    start = time.process_time()
    stored = standalone.simple_compress(numbers, ChunkConfig(compression_level=8))
    between = time.process_time()
    back = standalone.simple_decompress(stored)
    end = time.process_time()
    if back.tobytes() != numbers.tobytes():
        sys.exit(f"{path}: pcodec gave back other bytes")
    return {"raw": numbers.nbytes, "stored": len(stored), "encode": between - start, "decode": end - between}


def main():
    sums = {}
    for path in sorted(Path(sys.argv[1]).iterdir()):
        _, kind, dimensions = path.name.split("-")
        if kind in sys.argv[2:]:
            row = sums.setdefault((kind, dimensions), {})
            for name, value in measure(path, "<" + kind).items():
                row[name] = row.get(name, 0) + value
    print(json.dumps([{"type": kind, "dimensions": dimensions, **row} for (kind, dimensions), row in sums.items()]))


if __name__ == "__main__":
    main()
