"""Markdown tables, the machine, and the generated sections of a document."""
import os
import platform
import re
import shutil
import subprocess
from datetime import datetime, timezone
from pathlib import Path

TARGET_MISSED = 3  # exit code of a benchmark whose measurements are all sound, but not all as good as wanted


def table(headers, rows, left=1):
    """A markdown table; columns after the first `left` are right-aligned."""
    rule = ["---" if i < left else "---:" for i in range(len(headers))]
    lines = [headers, rule] + [[str(cell) for cell in row] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def replace_section(document, name, text):
    """Puts `text` between the markers of the generated section `name`, which the document must have."""
    document = Path(document)
    begin, end = f"<!-- begin generated: {name} -->", f"<!-- end generated: {name} -->"
    old = document.read_text()
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    if not pattern.search(old):
        raise SystemExit(f"{document} has no section '{name}'")
    document.write_text(pattern.sub(lambda _: f"{begin}\n{text.strip()}\n{end}", old))


def verdict(met):
    return "met" if met else "**missed**"


def _first_line(*command):
    if not shutil.which(command[0]):
        return f"{command[0]}: not installed"
    said = subprocess.run(command, capture_output=True, text=True)
    return (said.stdout + said.stderr).strip().splitlines()[0]


def _processor():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def _memory_gib():
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30


def machine(forebay, build):
    """A paragraph on what the figures were measured with."""
    zstd = _first_line("zstd", "--version")
    zstd = "zstd " + re.search(r"v([\d.]+)", zstd).group(1) if re.search(r"v([\d.]+)", zstd) else zstd
    peers = [_first_line("gzip", "--version"), _first_line("pigz", "--version"), zstd,
             _first_line("h5repack", "--version").replace(": Version", "")]
    load = os.getloadavg()[0]
    return (f"Written {datetime.now(timezone.utc):%Y-%m-%d %H:%M} UTC: {_processor()}, {os.cpu_count()} cores, "
            f"{_memory_gib():.0f} GiB, Linux {platform.release()}; {_first_line(str(forebay), '--version')} "
            f"(build {build}); {', '.join(peers)}. Load average at the end: {load:.1f}.\n")


def megabytes(count):
    return f"{count / 1e6:.1f}"
