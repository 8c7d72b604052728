"""Plots of bench/growth/ranks: time, memory and calls over what grows, one line for each operation."""
from kit import compression_plots as plots, growth_report, growth_run as run

plt = plots.plt

MIB = 1 << 20
PANELS = (("processor seconds", lambda lines, name: growth_report.median(lines, name, "cpu")),
          ("peak memory, MiB", lambda lines, name: growth_report.peak(lines, name) / MIB),
          ("system calls", growth_report.calls))


def _figure(kind, cases):
    figure, axes = plt.subplots(1, len(PANELS), figsize=(11, 4.2))
    for axis, (title, value) in zip(axes, PANELS):
        for operation in run.OPERATIONS:
            points = [(count, found) for count, lines in cases.items() if (found := value(lines, operation))]
            if points:
                axis.plot(*zip(*points), marker=".", label=operation, linewidth=1)
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xlabel(growth_report.AXES[kind])
        axis.set_ylabel(title)
        axis.grid(alpha=0.3)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.tight_layout(rect=(0, 0.12, 1, 1))
    figure.legend(handles, labels, loc="lower center", ncol=5, fontsize="small")
    return figure


def draw(found, directory):
    for kind, cases in found.items():
        plots.save(_figure(kind, cases), directory, f"growth-{kind}")
