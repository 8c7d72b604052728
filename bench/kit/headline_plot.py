"""The plot of bench/headline: what each arm makes of each set, as groups of bars. Plain SVG, so that it reads in any page."""

COLOURS = ("#0b5394", "#3d85c6", "#9fc5e8", "#7f6000", "#bf9000", "#e6b84d", "#6aa84f", "#a64d79")
WIDTH, LEFT, TOP, ROW, GAP, BAR = 860, 190, 54, 11, 14, 9


def _short(name):
    case, _, step = name.partition("-")
    return f"{case.split('_')[0]} {step}".strip()


def _text(x, y, words, anchor="start", size=12, fill="#222"):
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" font-size="{size}" fill="{fill}">{words}</text>'


def svg(sets, arms, ratios):
    """Bars as long as the bytes that are left of each set: shorter is better."""
    span = WIDTH - LEFT - 60
    height = TOP + len(sets) * (len(arms) * ROW + GAP) + 20 + 16 * ((len(arms) + 3) // 4)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif">',
             f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
             _text(16, 24, "What is left of a checkpoint set, in per cent of its bytes (shorter is better)", size=15)]
    y = TOP
    for name in sets:
        parts.append(_text(LEFT - 10, y + len(arms) * ROW / 2 + 4, _short(name), "end"))
        for arm, colour in zip(arms, COLOURS):
            if (name, arm) in ratios:
                left = 1 / ratios[name, arm]
                parts.append(f'<rect x="{LEFT}" y="{y}" width="{min(left, 1) * span:.1f}" height="{BAR}" fill="{colour}"/>')
                parts.append(_text(LEFT + min(left, 1) * span + 4, y + BAR, f"{100 * left:.1f}", size=9, fill="#555"))
            y += ROW
        y += GAP
    for number, (arm, colour) in enumerate(zip(arms, COLOURS)):
        x, line = 16 + 210 * (number % 4), y + 16 * (number // 4)
        parts.append(f'<rect x="{x}" y="{line}" width="12" height="10" fill="{colour}"/>')
        label = arm.strip("`")
        parts.append(_text(x + 18, line + 9, f"forebay {label}" if arm.startswith("`") else label))
    return "\n".join([*parts, "</svg>"]) + "\n"
