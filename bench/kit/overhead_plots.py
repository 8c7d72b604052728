"""Plots of bench/overhead, as the paper's Figure 6: all compute intervals of all ranks, sorted."""
from kit import compression_plots as plots, overhead_figures as figures, overhead_plan as plan

plt = plots.plt

COLOURS = dict(zip((arm.name for arm in plan.ARMS),
                   ("#000000", "#2ca02c", "#7f7f7f", "#ff7f0e", "#9467bd", "#1f77b4", "#d62728")))


def _figure(group, arms):
    figure, axis = plt.subplots(figsize=(6, 4))
    for arm, runs in arms.items():
        values = figures.intervals(runs)
        axis.plot([i / max(1, len(values) - 1) for i in range(len(values))], values, label=arm, color=COLOURS[arm],
                  marker=".", linewidth=1)
    axis.set_title(figures.title(group), fontsize="small")
    axis.set_xlabel("part of the intervals, sorted")
    axis.set_ylabel("seconds")
    axis.grid(alpha=0.3)
    axis.legend(fontsize="small")
    figure.tight_layout()
    return figure


def draw(found, directory):
    for group, arms in found.items():
        plots.save(_figure(group, arms), directory, f"overhead-{group[0].replace(' ', '-')}")
