"""Line and scatter plots as SVG, with nothing but the standard library."""

import html
import math

WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 62, 170, 36, 48
COLOURS = ("#1b6ca8", "#c0392b", "#e08e0b", "#3b8c4a", "#7d3c98", "#5d6d7e")


def text(x, y, words, anchor="start", extra=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {extra}>'
            f"{html.escape(words)}</text>")


def frame(title, x_name, y_name):
    bottom = HEIGHT - BOTTOM
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} '
        f'{HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        text(LEFT, 20, title, extra='font-weight="bold"'),
        f'<path d="M{LEFT} {TOP}V{bottom}H{WIDTH - RIGHT}" fill="none" '
        'stroke="#888"/>',
        text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, x_name, "middle"),
        text(0, 0, y_name, "middle",
             f'transform="translate(14 {(TOP + bottom) / 2:.0f}) rotate(-90)"'),
    ]


def step_of(span):
    """A round distance between ticks, for five or so of them."""
    raw = span / 5 if span > 0 else 1
    power = 10 ** math.floor(math.log10(raw))
    return next(n * power for n in (1, 2, 5, 10) if n * power >= raw)


def scale_x(low, high, value):
    return LEFT + (value - low) / (high - low) * (WIDTH - RIGHT - LEFT)


def scale_y(low, high, value):
    return HEIGHT - BOTTOM - (value - low) / (high - low) * (
        HEIGHT - BOTTOM - TOP)


def ticks_x(out, low, high):
    step = step_of(high - low)
    value = math.ceil(low / step) * step
    while value <= high + 1e-9:
        x = scale_x(low, high, value)
        out.append(text(x, HEIGHT - BOTTOM + 16, f"{value:g}", "middle"))
        value += step


def tick_y(out, y, label):
    out.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#eee"/>')
    out.append(text(LEFT - 6, y + 4, label, "end"))


def legend(out, names):
    for index, name in enumerate(names):
        y = TOP + 14 + 20 * index
        colour = COLOURS[index % len(COLOURS)]
        out.append(f'<rect x="{WIDTH - RIGHT + 14}" y="{y - 9}" width="12" '
                   f'height="10" fill="{colour}"/>')
        out.append(text(WIDTH - RIGHT + 32, y, name))


def lines(title, x_name, x_high, y_name, series):
    """series: (name, values at equal distances)."""
    out = frame(title, x_name, y_name)
    high = max(max(values) for _, values in series) * 1.05 or 1.0
    ticks_x(out, 0.0, x_high)
    step = step_of(high)
    for index in range(int(high / step) + 1):
        tick_y(out, scale_y(0.0, high, index * step), f"{index * step:g}")
    for index, (_, values) in enumerate(series):
        points = " ".join(
            f"{scale_x(0.0, len(values), place + 0.5):.1f},"
            f"{scale_y(0.0, high, value):.1f}"
            for place, value in enumerate(values))
        out.append(f'<polyline points="{points}" fill="none" stroke-width="2" '
                   f'stroke="{COLOURS[index % len(COLOURS)]}"/>')
    legend(out, [name for name, _ in series])
    return "\n".join(out + ["</svg>"]) + "\n"


def scatter(title, x_name, y_name, points):
    """points: (name, x, y); y is shown by its logarithm."""
    out = frame(title, x_name, y_name)
    names = list(dict.fromkeys(name for name, _, _ in points))
    low = math.floor(math.log10(min(y for _, _, y in points)))
    high = math.ceil(math.log10(max(y for _, _, y in points)))
    ticks_x(out, 0.0, 100.0)
    for power in range(low, high + 1):
        tick_y(out, scale_y(low, high, power), f"{10 ** power:g}")
    for name, x, y in points:
        out.append(f'<circle cx="{scale_x(0.0, 100.0, x):.1f}" '
                   f'cy="{scale_y(low, high, math.log10(y)):.1f}" r="5" '
                   f'fill="{COLOURS[names.index(name) % len(COLOURS)]}" '
                   'fill-opacity="0.8"/>')
    legend(out, names)
    return "\n".join(out + ["</svg>"]) + "\n"
