"""The paper's Figures 6 to 9 for the sets at hand, and ratio against speed, as PNG files."""
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

from kit import compression_plan as plan  # noqa: E402

COLOURS = {"agnostic": "#7f7f7f", "agnostic-block": "#bcbd22", "aware": "#1f77b4", "aware-block": "#2ca02c",
           "auto": "#d62728"}


def _panels(count, width=3.2, height=3.0):
    figure, axes = plt.subplots(1, count, figsize=(width * count, height), squeeze=False)
    return figure, axes[0]


def save(figure, directory, name):
    directory.mkdir(parents=True, exist_ok=True)
    figure.savefig(directory / f"{name}.png", dpi=75)
    plt.close(figure)


def _line(axis, xs, found, label, colour, style="-"):
    points = [(x, figure.ratio) for x, figure in zip(xs, found) if figure]
    if points:
        axis.plot(*zip(*points), style, marker=".", color=colour, label=label)


def _last_sets(figures):
    return [steps[-1] for steps in figures.cases().values()]


def _finish(figure, axes, xlabel):
    axes[0].set_ylabel("compression ratio")
    for axis in axes:
        axis.set_xlabel(xlabel)
        axis.grid(alpha=0.3)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.tight_layout(rect=(0, 0.12, 1, 1))
    figure.legend(handles, labels, loc="lower center", ncol=3, fontsize="small")


def ratio_and_speed(figures):
    names = _last_sets(figures)
    figure, axes = _panels(len(names), 3.8, 3.2)
    for axis, name in zip(axes, names):
        arms = [(profile, figures.usual(name, profile), "o", "#1f77b4") for profile in
                ("gzip", "paper", "fast", "balanced", "max")]
        arms += [(peer.name, figures.peer(name, peer.name), "s", "#7f7f7f") for peer in plan.PEERS]
        for label, found, marker, colour in arms:
            if found:
                axis.scatter(found.compress.median, found.ratio, marker=marker, color=colour, s=18)
                axis.annotate(label, (found.compress.median, found.ratio), fontsize=6, xytext=(3, 2),
                              textcoords="offset points")
        axis.set_xscale("log")
        axis.set_title(name, fontsize="small")
        axis.set_xlabel("compression, MB/s per core")
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("compression ratio")
    figure.tight_layout()
    return figure


def group_size(figures):
    names = _last_sets(figures)
    figure, axes = _panels(len(names))
    for axis, name in zip(axes, names):
        sizes = figures.groups(name)
        for scheme, profile in plan.PAPER_PROFILE.items():
            _line(axis, sizes, [figures.forebay(name, profile, scheme, size) for size in sizes],
                  f"{scheme}, {profile}", COLOURS[scheme])
        _line(axis, sizes, [figures.forebay(name, "balanced", "auto", size) for size in sizes], "auto, balanced",
              COLOURS["auto"])
        axis.set_xscale("log", base=2)
        axis.set_title(name, fontsize="small")
    _finish(figure, axes, "ranks in a group")
    return figure


def block_size(figures):
    names = _last_sets(figures)
    figure, axes = _panels(len(names))
    kibibytes = [block >> 10 for block in plan.BLOCK_SIZES]
    for axis, name in zip(axes, names):
        for profile, scheme, colour in (("gzip", "agnostic-block", COLOURS["agnostic-block"]),
                                        ("paper", "aware-block", COLOURS["aware-block"]),
                                        ("balanced", "aware-block", COLOURS["auto"])):
            _line(axis, kibibytes, [figures.forebay(name, profile, scheme, figures.usual_group(name), block)
                                    for block in plan.BLOCK_SIZES], f"{scheme}, {profile}", colour)
        axis.set_xscale("log", base=2)
        axis.set_title(name, fontsize="small")
    _finish(figure, axes, "block, KiB")
    return figure


def steps(figures):
    cases = {case: names for case, names in figures.cases().items() if len(names) > 1}
    if not cases:
        return None
    figure, axes = _panels(len(cases))
    for axis, (case, names) in zip(axes, cases.items()):
        labels = [name.split("-")[1] for name in names]
        for scheme, profile in plan.PAPER_PROFILE.items():
            _line(axis, labels, [figures.forebay(name, profile, scheme, figures.usual_group(name)) for name in names],
                  f"{scheme}, {profile}", COLOURS[scheme])
        _line(axis, labels, [figures.usual(name, "balanced") for name in names], "auto, balanced", COLOURS["auto"])
        axis.set_title(case, fontsize="small")
    _finish(figure, axes, "checkpoint")
    return figure


def single_and_double(figures):
    names = _last_sets(figures)
    figure, axes = _panels(len(names))
    for axis, name in zip(axes, names):
        for place, (scheme, chains) in enumerate(plan.SINGLE_AND_DOUBLE.items()):
            for offset, chain, shade, label in ((-0.18, chains[0], 0.5, "single"), (0.18, chains[1], 1.0, "double")):
                found = figures.forebay(name, chain, scheme, figures.usual_group(name), plan.PAPER_BLOCK)
                if found:
                    axis.bar(place + offset, found.ratio, 0.34, color=COLOURS["aware"], alpha=shade,
                             label=label if place == 0 else None)
        axis.set_xticks(range(len(plan.SINGLE_AND_DOUBLE)), plan.SINGLE_AND_DOUBLE, fontsize="small")
        axis.set_title(name, fontsize="small")
    _finish(figure, axes, "")
    return figure


DRAWINGS = {"ratio-and-speed": ratio_and_speed, "single-and-double": single_and_double, "group-size": group_size,
            "block-size": block_size, "steps": steps}
TITLES = {"ratio-and-speed": "Ratio and compression speed",
          "single-and-double": "One pass and two (the paper's Figure 6)",
          "group-size": "Ratio by group size (Figure 7)",
          "block-size": "Ratio by block size (Figure 8)",
          "steps": "Ratio as the simulation goes on (Figure 9)"}


def draw(figures, directory):
    for name, make in DRAWINGS.items():
        drawing = make(figures)
        if drawing:
            save(drawing, directory, name)
