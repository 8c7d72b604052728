"""Plots of bench/adaptable-io: the cost of a write over the number of ranks, a panel for each workload."""
from kit import adaptable_plan as plan, compression_plots as plots

plt = plots.plt

COLOURS = {"MPI": "#1f77b4", "POSIX": "#2ca02c", "MPI_AGGREGATE": "#d62728", "FOREBAY": "#9467bd", "PHDF5": "#ff7f0e",
           "collective": "#000000"}


def _panel(axis, figures, group):
    ranks = figures.ranks(group)
    for arm in plan.ARMS:
        found = [(count, figures.ratio(group, count, arm)) for count in ranks]
        found = [(count, spread) for count, spread in found if spread]
        if found:
            axis.plot([count for count, _ in found], [spread.median for _, spread in found], label=arm.name,
                      color=COLOURS[arm.method], marker="." if arm.library == "forebay" else "x", linewidth=1,
                      linestyle="-" if arm.library == "forebay" else "--")
    axis.axhline(1, color="#7f7f7f", linewidth=0.8)
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    axis.set_xticks(ranks, [str(count) for count in ranks])
    axis.set_title(f"{plan.TITLES[group[1]].split(':')[0]}, {group[0]}", fontsize="small")
    axis.set_xlabel("ranks")
    axis.grid(alpha=0.3)


def draw(figures, directory):
    groups = figures.groups(False)
    if not groups:
        return
    columns = min(4, len(groups))
    rows = -(-len(groups) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(3.3 * columns, 3.2 * rows), squeeze=False)
    for axis in axes.flat[len(groups):]:
        axis.set_visible(False)
    for axis, group in zip(axes.flat, groups):
        _panel(axis, figures, group)
    for axis in axes[:, 0]:
        axis.set_ylabel("seconds, write() is 1")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.tight_layout(rect=(0, 0.5 / rows / 3.0 + 0.02, 1, 1))
    figure.legend(handles, labels, loc="lower center", ncol=5, fontsize="small")
    plots.save(figure, directory, "adaptable-io")
