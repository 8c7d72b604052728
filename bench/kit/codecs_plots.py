"""Plots of bench/codecs: ratio against speed for each kind of data, and what the profiles gain over gzip."""
from kit import codecs_plan as plan, compression_plots as plots

plt = plots.plt

COLOURS = {**{profile: "#d62728" for profile in plan.PROFILES}, **{chain: "#1f77b4" for chain in plan.CHAINS}}
PEER_COLOUR = "#7f7f7f"


def ratio_and_speed(figures):
    panels = [(name, figures.classes(name)[0]) for name in figures.sets if figures.classes(name)]
    columns = 3
    rows = -(-len(panels) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(3.9 * columns, 3.1 * rows), squeeze=False)
    for axis in axes.flat[len(panels):]:
        axis.set_visible(False)
    for axis, (name, kind) in zip(axes.flat, panels):
        for arm, title in plan.TITLES.items():
            costs = figures.costs(name, arm, kind)
            if costs:
                colour = COLOURS.get(arm, PEER_COLOUR)
                axis.scatter(costs.encode.median, costs.ratio, color=colour, s=16)
                axis.annotate(title.strip("`"), (costs.encode.median, costs.ratio), fontsize=6, xytext=(3, 2),
                              textcoords="offset points")
        axis.set_xscale("log")
        axis.set_title(f"{name}, {kind[0]} {kind[1]}s", fontsize="small")
        axis.grid(alpha=0.3)
    for axis in axes[:, 0]:
        axis.set_ylabel("compression ratio")
    for axis in axes[-1]:
        axis.set_xlabel("encoding, MB/s per core")
    figure.tight_layout()
    return figure


def gains(figures, whole):
    names = [name for name in figures.sets if whole.peer(name, plan.GZIP)]
    figure, axis = plt.subplots(figsize=(11, 3.6))
    width = 0.8 / len(plan.WHOLE_PROFILES)
    for place, (profile, colour) in enumerate(zip(plan.WHOLE_PROFILES, ("#7f7f7f", "#1f77b4", "#2ca02c", "#d62728"))):
        found = [whole.usual(name, profile) for name in names]
        heights = [100 * (one.ratio / whole.peer(name, plan.GZIP).ratio - 1) if one else 0
                   for one, name in zip(found, names)]
        axis.bar([i + place * width for i in range(len(names))], heights, width, label=profile, color=colour)
    axis.set_xticks([i + 1.5 * width for i in range(len(names))], [name.replace("_", "\n", 1) for name in names],
                    fontsize=7)
    axis.set_ylabel("gain over gzip -6, %")
    axis.grid(axis="y", alpha=0.3)
    axis.legend(fontsize="small")
    figure.tight_layout()
    return figure


TITLES = {"codec-gains": "Whole sets: what the profiles gain over agnostic gzip -6",
          "codec-ratio-and-speed": "Ratio and encoding speed on the most common kind of variables of each set"}


def draw(figures, whole, directory):
    plots.save(gains(figures, whole), directory, "codec-gains")
    plots.save(ratio_and_speed(figures), directory, "codec-ratio-and-speed")
