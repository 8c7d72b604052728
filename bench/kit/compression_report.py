"""The report of bench/compression: tables, the paper's figures, and the targets."""
from pathlib import Path

from kit import compression_figures, compression_plan as plan, compression_targets as targets, report

PROFILES = ("none", "gzip", "paper", "fast", "balanced", "max")


def _speed(spread):
    if spread is None:
        return "-"
    return f"{spread.median:.0f} ± {spread.percent:.0f} %" if spread.count > 1 else f"{spread.median:.0f}"


def _gain(figure, baseline):
    return f"{figure.ratio / baseline.ratio - 1:+.1%}" if baseline else "-"


def overview(figures, name):
    """Profiles and peers on one set."""
    gzip = figures.peer(name, "gzip -6")
    arms = [(f"`{profile}`", figures.usual(name, profile)) for profile in PROFILES]
    arms += [(peer.name, figures.peer(name, peer.name)) for peer in plan.PEERS]
    rows = [[label, f"{figure.ratio:.3f}", _gain(figure, gzip), _speed(figure.compress), _speed(figure.decompress),
             f"{figure.compress_wall.median:.0f}"]
            for label, figure in arms if figure]
    return report.table(["arm", "ratio", "over gzip -6", "compress, MB/s per core", "decompress, MB/s per core",
                         "compress, MB/s (wall)"], rows)


def by_group_size(figures, name):
    """The paper's Fig. 7, for every scheme and profile."""
    sizes = figures.groups(name)
    rows = []
    for profile in PROFILES:
        for scheme in plan.SCHEMES:
            found = [figures.forebay(name, profile, scheme, size) for size in sizes]
            if sum(figure is not None for figure in found) > 1:
                rows.append([f"`{profile}`", scheme, *(f"{one.ratio:.3f}" if one else "-" for one in found)])
    return report.table(["profile", "scheme", *(f"G = {size}" for size in sizes)], rows, left=2) if rows else ""


def single_and_double(figures):
    """The paper's Fig. 6."""
    rows = []
    for name in figures.sets:
        for scheme, chains in plan.SINGLE_AND_DOUBLE.items():
            pair = [figures.forebay(name, chain, scheme, figures.usual_group(name), plan.PAPER_BLOCK)
                    for chain in chains]
            if all(pair):
                rows.append([name, scheme, f"{pair[0].ratio:.3f}", f"{pair[1].ratio:.3f}",
                             f"{pair[1].ratio / pair[0].ratio - 1:+.1%}"])
    return report.table(["set", "scheme", "single", "double", "gain"], rows, left=2) if rows else ""


def by_block_size(figures):
    """The paper's Fig. 8."""
    rows = []
    for name in figures.sets:
        for profile, scheme in (("gzip", "agnostic-block"), ("paper", "aware-block"), ("balanced", "aware-block")):
            found = [figures.forebay(name, profile, scheme, figures.usual_group(name), block)
                     for block in plan.BLOCK_SIZES]
            if sum(figure is not None for figure in found) > 1:
                rows.append([name, f"{scheme}, `{profile}`", *(f"{one.ratio:.3f}" if one else "-" for one in found)])
    heads = [f"{block >> 10}K" for block in plan.BLOCK_SIZES]
    return report.table(["set", "scheme, profile", *heads], rows, left=2) if rows else ""


def table4(figures):
    """The paper's Table 4: improvement of the variable-aware schemes on agnostic gzip at the same group size."""
    rows = []
    for name in figures.sets:
        for profile in ("paper", "balanced"):
            row = [name, f"`{profile}`"]
            for scheme in ("aware-block", "aware"):
                gains = [(ours.ratio / base.ratio - 1, size) for size in figures.groups(name)
                         if (ours := figures.forebay(name, profile, scheme, size))
                         and (base := figures.forebay(name, "gzip", "agnostic", size))]
                row += [f"{gain:.1%} ({size})" for gain, size in (max(gains), min(gains))] if gains else ["-", "-"]
            if row[2:] != ["-"] * 4:
                rows.append(row)
    return report.table(["set", "profile", "aware-block, best", "worst", "aware, best", "worst"], rows,
                        left=2) if rows else ""


def _titled(title, text):
    return f"### {title}\n\n{text}\n" if text else ""


def _full(figures):
    parts = [_titled(f"{name}: ratio by group size", by_group_size(figures, name)) for name in figures.sets]
    return "".join(parts)


def _plots(directory):
    """The plots as images of a document; `directory` is where they are, relative to it."""
    from kit import compression_plots
    return "".join(f"{title}:\n\n![{title}]({directory}{name}.png)\n\n"
                   for name, title in compression_plots.TITLES.items())


def _sections(figures, rows, machine, plots):
    text = machine + "\n" + _titled("Targets", targets.checks_table(rows)) + _titled("Plots", plots)
    for name in figures.sets:
        group = figures.usual_group(name) or "no"
        text += _titled(f"{name} (scheme auto, {group} ranks a group)", overview(figures, name))
    text += _titled("One pass and two (the paper's Fig. 6)", single_and_double(figures))
    text += _titled("Block size (the paper's Fig. 8)", by_block_size(figures))
    text += _titled("Relative improvement over agnostic gzip (the paper's Table 4; group size in brackets)",
                    table4(figures))
    return text


def write(log, forebay, directory, document):
    """Writes the report and the plots, prints the targets. Returns TARGET_MISSED if one is."""
    figures = compression_figures.Figures(log)
    if not figures.sets:
        raise SystemExit("nothing was measured")
    rows = targets.checks(figures)
    from kit import compression_plots
    machine = report.machine(forebay, log.build)
    text = _sections(figures, rows, machine, _plots(""))
    (directory / "compression.md").write_text("# Compression\n\n" + text + _full(figures))
    compression_plots.draw(figures, directory)
    if document:
        compression_plots.draw(figures, Path(document).parent / "figures")
        report.replace_section(document, "compression", _sections(figures, rows, machine, _plots("figures/")))
    print(text)
    missed = [row for row in rows if not row[3]]
    print(f"{len(rows) - len(missed)} targets met, {len(missed)} missed; all tables: {directory / 'compression.md'}")
    return report.TARGET_MISSED if missed else 0
