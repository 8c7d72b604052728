"""The report of bench/codecs: targets, sizes and speeds by set and by kind of data, the chooser, threads, and where the
time goes."""
from pathlib import Path

from kit import codecs_figures, codecs_plan as plan, codecs_profile, codecs_targets, compression_figures, report
from kit.results import Spread


def speed(spread):
    return f"{spread.median:.0f} ± {spread.percent:.0f} %" if spread.count > 1 else f"{spread.median:.0f}"


def times(spread, base):
    return f"{spread.median / base.median:.1f} x"


def targets(parts):
    text = ""
    for title, rows in parts.items():
        if rows:
            text += f"\n#### Targets: {title}\n\n" + report.table(
                ["what", "target", "measured", ""], [[*row[:3], report.verdict(row[3])] for row in rows])
    return text


def whole_sets(figures, whole):
    arms = [*plan.WHOLE_PROFILES, *(peer.name for peer in plan.WHOLE_PEERS if peer.name != plan.GZIP)]
    rows = []
    for name in figures.sets:
        gzip = whole.peer(name, plan.GZIP)
        if not gzip:
            continue
        row = [name, f"{gzip.raw / 1e6:.1f}", f"{gzip.ratio:.3f}"]
        for arm in arms:
            found = whole.peer(name, arm) or whole.usual(name, arm)
            row.append(f"{found.ratio:.3f} ({found.ratio / gzip.ratio - 1:+.1%})" if found else "-")
        rows.append(row)
    titles = [f"`{arm}`" if arm in plan.WHOLE_PROFILES else arm for arm in arms]
    return report.table(["set", "MB", "gzip -6", *titles], rows)


def whole_speeds(figures, whole):
    """Of the frames alone, and of the whole command."""
    rows = []
    for name in figures.sets:
        gzip = whole.peer(name, plan.GZIP)
        for profile in plan.PROFILES:
            costs, command = figures.costs(name, profile), whole.usual(name, profile)
            if gzip and costs and command:
                rows.append([name, f"`{profile}`", speed(costs.encode), times(costs.encode, gzip.compress),
                             speed(costs.decode), times(costs.decode, gzip.decompress), speed(command.compress),
                             times(command.compress, gzip.compress), speed(command.decompress),
                             times(command.decompress, gzip.decompress)])
        if gzip:
            rows.append([name, plan.GZIP, "-", "-", "-", "-", speed(gzip.compress), "1 x", speed(gzip.decompress),
                         "1 x"])
    return report.table(["set", "arm", "encode", "/ gzip", "decode", "/ gzip", "pack", "/ gzip", "restore", "/ gzip"],
                        rows, left=2)


def classes(figures, name):
    """Profiles, chains and peers on the same bytes."""
    text = ""
    for kind in figures.classes(name):
        gzip = figures.costs(name, plan.GZIP, kind)
        rows = []
        for arm, title in plan.TITLES.items():
            costs = figures.costs(name, arm, kind)
            if costs and not (arm == "fpzip" and not kind[0].startswith("f")):
                rows.append([title, f"{costs.ratio:.3f}", f"{costs.ratio / gzip.ratio - 1:+.1%}", speed(costs.encode),
                             times(costs.encode, gzip.encode), speed(costs.decode), times(costs.decode, gzip.decode)])
        text += f"{name}, {kind[0]} {kind[1]}s, {gzip.raw / 1e6:.1f} MB:\n\n" + report.table(
            ["arm", "ratio", "over gzip -6", "encode, MB/s per core", "/ gzip", "decode, MB/s per core", "/ gzip"],
            rows) + "\n"
    return text


def chooser(figures):
    rows = []
    for name in figures.sets:
        for profile in plan.PROFILES:
            ours, best = figures.costs(name, profile), figures.costs(name, f"best:{profile}")
            if not ours or not best:
                continue
            exhaustive = figures.groups(name, f"best:{profile}")
            lost = {key[0]: sizes.stored - exhaustive[key].stored
                    for key, sizes in figures.groups(name, profile).items()}
            worst = max(lost, key=lost.get)
            rows.append([name, f"`{profile}`", f"{ours.ratio:.3f}", f"{best.ratio:.3f}",
                         f"{ours.stored / best.stored - 1:.2%}", f"{ours.choosing_share.median:.1%}",
                         f"`{worst}` {lost[worst] / best.stored:.2%}" if lost[worst] > 0 else "-"])
    heads = ["set", "profile", "ratio", "exhaustive", "larger by", "choosing's share of the time", "most lost on"]
    return report.table(heads, rows, left=2) if rows else ""


def remembered(figures):
    rows = []
    for line in figures.select(after=""):
        key = line["key"]
        others = [other for other in figures.select(set=key["set"], profile=key["profile"])
                  if other["key"].get("after")]
        if others and not any(row[:2] == [key["set"], f"`{key['profile']}`"] for row in rows):
            fresh = figures.select(**key)
            encode = [Spread([one["encode"] for one in some]).median for some in (fresh, others)]
            rows.append([key["set"], f"`{key['profile']}`", others[-1]["key"]["after"],
                         f"{others[-1]['stored'] / fresh[-1]['stored'] - 1:+.2%}", f"{encode[1] / encode[0] - 1:+.0%}"])
    heads = ["set", "profile", "after", "size", "CPU time of the encoding stage"]
    return report.table(heads, rows, left=3) if rows else ""


def threads(figures):
    one, two = plan.THREADS
    rows = []
    for profile in plan.PROFILES:
        pair = [figures.select(threads=count, profile=profile) for count in (one, two)]
        if all(pair):
            row = [pair[0][-1]["key"]["set"], f"`{profile}`"]
            for operation in ("pack", "restore"):
                walls = [Spread([line["raw"] / 1e6 / line[operation]["wall"] for line in lines]) for lines in pair]
                row += [speed(walls[0]), speed(walls[1]), times(walls[1], walls[0])]
            rows.append(row)
    heads = ["set", "profile", "pack, 1 thread", "2 threads", "", "restore, 1 thread", "2 threads", ""]
    return report.table(heads, rows, left=2) if rows else ""


def time_shares(figures):
    purposes = [name for name, _ in codecs_profile.PURPOSES] + [codecs_profile.OTHER]
    columns, heads = [], []
    for name in _last_sets(figures):
        for profile in plan.PROFILES:
            lines = figures.select(set=name, profile=profile, perf="pack")
            if lines:
                heads.append(f"{name.split('_')[0]}, `{profile}`")
                columns.append(lines[-1]["shares"])
    rows = [[purpose, *(f"{column.get(purpose, 0):.0%}" for column in columns)] for purpose in purposes]
    return report.table(["share of pack's processor time", *heads], rows) if columns else ""


def _titled(title, text):
    return f"\n### {title}\n\n{text}\n" if text else ""


def _last_sets(figures):
    return list({name.split("-DD")[0]: name for name in figures.sets}.values())


def sections(figures, whole, parts, machine, plots, names):
    text = machine + _titled("Targets of the codecs", targets(parts).strip())
    text += _titled("Codec plots", plots)
    text += _titled("Whole sets: ratio (gain over agnostic gzip -6)", whole_sets(figures, whole))
    text += _titled("Speed of the profiles, MB/s of CPU time per core", whole_speeds(figures, whole))
    text += _titled("Codecs and peers on the same variables", "".join(classes(figures, name) for name in names).strip())
    text += _titled("The choice against the exhaustive one", chooser(figures))
    text += _titled("With the choices of the set before", remembered(figures))
    text += _titled("One thread and two, MB/s on the clock", threads(figures))
    text += _titled("Where the time goes", time_shares(figures))
    return text


def _images(directory):
    from kit import codecs_plots
    return "".join(f"{title}:\n\n![{title}]({directory}{name}.png)\n\n" for name, title in codecs_plots.TITLES.items())


def write(log, whole_log, forebay, directory, document):
    """Writes the report and the plots, prints the targets. Returns TARGET_MISSED if one is."""
    figures, whole = codecs_figures.Figures(log), compression_figures.Figures(whole_log)
    if not figures.sets:
        raise SystemExit("nothing was measured")
    from kit import codecs_plots
    parts = codecs_targets.checks(figures, whole)
    machine = report.machine(forebay, log.build)
    text = sections(figures, whole, parts, machine, _images(""), figures.sets)
    (directory / "codecs.md").write_text("# Codecs\n\n" + text)
    codecs_plots.draw(figures, whole, directory)
    if document:
        codecs_plots.draw(figures, whole, Path(document).parent / "figures")
        report.replace_section(document, "codecs", sections(figures, whole, parts, machine, _images("figures/"),
                                                            _last_sets(figures)))
    print(text)
    rows = [row for part in parts.values() for row in part]
    missed = sum(not row[3] for row in rows)
    print(f"{len(rows) - missed} targets met, {missed} missed; all tables: {directory / 'codecs.md'}")
    return report.TARGET_MISSED if missed else 0
