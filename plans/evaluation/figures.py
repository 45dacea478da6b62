"""SVG, as text that comes out the same each time: a canvas with panels, lines and dots. Readable on light and dark
pages: it brings its own background."""
import math

INK, GRID = "#333333", "#dddddd"
COLOURS = ("#b2182b", "#2166ac", "#4d4d4d", "#d6a100", "#1b7837")


class Canvas:
    def __init__(self, width, height):
        self.size = width, height
        self.parts = [f'<rect width="{width}" height="{height}" fill="#ffffff"/>']

    def text(self, x, y, words, anchor="start", size=11):
        words = str(words).replace("&", "&amp;").replace("<", "&lt;")
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{INK}">{words}</text>')

    def line(self, points, colour=INK, width=1.0, dashed=False):
        dash = ' stroke-dasharray="4 3"' if dashed else ""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"{dash}/>')

    def dots(self, points, colour, radius=1.6):
        for x, y in points:
            self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{colour}"/>')

    def legend(self, x, y, names):
        for colour, name in zip(COLOURS, names):
            self.dots([(x, y - 4)], colour, 4)
            self.text(x + 9, y, name)
            x += 40 + 7 * len(name)

    def svg(self):
        width, height = self.size
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
                'font-family="sans-serif">\n' + "\n".join(self.parts) + "\n</svg>\n")


class Panel:
    """A rectangle of a canvas with scales of its own."""

    def __init__(self, canvas, box, x_range, y_range):
        self.canvas, self.box, self.x_range, self.y_range = canvas, box, x_range, y_range
        left, top, width, height = box
        canvas.parts.append(f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="none" stroke="{GRID}"/>')

    def at(self, x, y):
        left, top, width, height = self.box
        (x0, x1), (y0, y1) = self.x_range, self.y_range
        return left + width * (x - x0) / (x1 - x0), top + height * (y1 - y) / (y1 - y0)

    def line(self, points, *style, **more):
        self.canvas.line([self.at(*point) for point in points], *style, **more)

    def dots(self, points, *style):
        self.canvas.dots([self.at(*point) for point in points], *style)

    def axis_texts(self, x_values, y_values, form=str, x_form=None):
        left, top, width, height = self.box
        for value in x_values:
            self.canvas.text(self.at(value, self.y_range[0])[0], top + height + 14, (x_form or form)(value), "middle", 10)
        for value in y_values:
            self.canvas.text(left - 4, self.at(self.x_range[0], value)[1] + 4, form(value), "end", 10)


def changes(bars, series, left=190):
    """Changes with their intervals: a line for each name, one below the other for each of the series.

    bars: (name, one of the series, ratio with estimate, conf_low and conf_high); without bounds only the estimate."""
    names = list(dict.fromkeys(name for name, _, _ in bars))
    ends = [found[key] - 1 for _, _, found in bars for key in ("estimate", "conf_low", "conf_high") if found[key] is not None]
    step = tick_step(max(0, *ends) - min(0, *ends))
    low, high = step * math.floor(min(0, *ends) / step), step * math.ceil(max(0, *ends) / step)
    row = 10 + 12 * len(series)
    canvas = Canvas(left + 450, 44 + row * len(names) + 16 * len(series))
    panel = Panel(canvas, (left, 20, 430, row * len(names)), (low, high), (0, len(names)))
    for tick in range(round(low / step), round(high / step) + 1):
        panel.line([(tick * step, 0), (tick * step, len(names))], *(("#999999", 1.0, True) if tick == 0 else (GRID,)))
        panel.axis_texts((tick * step,), (), lambda v: f"{100 * v + 0.0:.3g} %")
    for name, which, found in bars:
        at = series.index(which)
        y = len(names) - names.index(name) - (at + 1) / (len(series) + 1)
        bounds = found["conf_low"], found["conf_high"]
        if None not in bounds:
            panel.line([(bound - 1, y) for bound in bounds], COLOURS[at], 2)
        panel.dots([(found["estimate"] - 1, y)], COLOURS[at], 3)
    for i, name in enumerate(names):
        canvas.text(left - 6, panel.at(0, len(names) - i - 0.5)[1] + 4, name, "end")
    for i, name in enumerate(series):   # one below the other: their names are long
        y = 52 + row * len(names) + 16 * i
        canvas.dots([(left + 10, y - 4)], COLOURS[i], 4)
        canvas.text(left + 19, y, name)
    return canvas.svg()


def tick_step(length):
    """1, 2 or 5 times a power of ten that divides this length into four to ten."""
    least = length / 10 or 1.0
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * times for times in (1, 2, 5, 10) if power * times >= least * (1 - 1e-9))
