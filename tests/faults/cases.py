"""All cases of tests/faults: see faults.py."""

import commands
import programs


def all_cases(fixture):
    for some in (commands.conversions, commands.readers, commands.of_stores, commands.of_prefixes, programs.methods, programs.scr):
        yield from some(fixture)
