"""Plots of bench/mpiio, as the paper's Figures 4 to 6: speed over the number of ranks, a panel for each workload."""
from kit import compression_plots as plots, mpiio_plan as plan

plt = plots.plt

COLOURS = ("#000000", "#7f7f7f", "#bcbd22", "#ff7f0e", "#9467bd", "#1f77b4", "#d62728")


def _panel(axis, speeds, case):
    ranks = speeds.ranks(case)
    for arm, colour in zip(plan.ARMS, COLOURS):
        found = [(count, speeds.spread(case, count, arm)) for count in ranks]
        found = [(count, spread) for count, spread in found if spread]
        if found:
            middles = [spread.median for _, spread in found]
            bars = [[spread.median - spread.least for _, spread in found],
                    [spread.most - spread.median for _, spread in found]]
            axis.errorbar([count for count, _ in found], middles, yerr=bars, label=arm.name, color=colour, marker=".",
                          linewidth=1, capsize=2)
    axis.set_xscale("log", base=2)
    axis.set_yscale("log")
    axis.set_xticks(ranks, [str(count) for count in ranks])
    axis.set_title(f"{plan.TITLES[case[1]]}, {case[2]}", fontsize="small")
    axis.grid(alpha=0.3)


def _setting(speeds, cases):
    columns = min(4, len(cases))
    rows = -(-len(cases) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(3.3 * columns, 3.0 * rows), squeeze=False)
    for axis in axes.flat[len(cases):]:
        axis.set_visible(False)
    for axis, case in zip(axes.flat, cases):
        _panel(axis, speeds, case)
        axis.set_xlabel("ranks")
    for axis in axes[:, 0]:
        axis.set_ylabel("MB/s, all ranks together")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.tight_layout(rect=(0, 0.3 / rows / 3.0 + 0.02, 1, 1))
    figure.legend(handles, labels, loc="lower center", ncol=len(labels), fontsize="small")
    return figure


def draw(speeds, directory):
    for setting in {case[0] for case in speeds.cases()}:
        cases = [case for case in speeds.cases() if case[0] == setting]
        plots.save(_setting(speeds, cases), directory, f"locks-{setting}")
