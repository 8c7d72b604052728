"""A program of one process that sums numbers, step after step, and checkpoints; argument 1: the step at which it dies."""

import os
import sys

import numpy as np

import forebay as fb

dies_at, last = int(sys.argv[1]), 6
total, step = np.zeros(4), 0
found = fb.restart(None, timeout=60)
if found is not None:
    total, step = np.load(found.path("state.npy")), found.step
    print(f"restarts from {found.set}", flush=True)
while step < last:
    step += 1
    total = total + step
    if step == 3:
        try:
            with fb.checkpoint(None, "broken", step=step) as c:
                np.save(c.path("state.npy"), total)
                raise ZeroDivisionError
        except ZeroDivisionError:
            pass
    with fb.checkpoint(None, f"dump_{step:04}", step=step) as c:
        np.save(c.path("state.npy"), total)
    c.wait(timeout=60)
    if step == dies_at and os.environ["FOREBAY_ATTEMPT"] == "1":
        os._exit(9)
assert (total == sum(range(last + 1))).all(), total
print("ends well", flush=True)
