"""A text in Markdown to stdout: headings, lists, quotes, tables of links, emphasis, code, entities.

    markdown.py PARAGRAPHS
"""
import sys

state = 12345


def draw(n):
    global state
    state = state * 16807 % 2147483647
    return state % n


def words(n):
    made = ("".join("bcdfghklmnprst"[draw(14)] + "aeiou"[draw(5)] for _ in range(1 + draw(3))) for _ in range(n))
    marked = (f"*{w}*" if draw(17) == 0 else f"**{w}**" if draw(23) == 0 else f"`{w}`" if draw(19) == 0 else f"[{w}](http://{w}.example/{w} \"{w}\")"
              if draw(29) == 0 else f"[{w}]" if draw(61) == 0 else f"{w} &amp; &eacute;" if draw(41) == 0 else f"<b>{w}</b>" if draw(53) == 0 else
              f"{w}_{w}\\*" if draw(31) == 0 else w for w in made)
    return " ".join(marked)


def paragraph(i):
    kind = draw(9)
    if kind == 0:
        return f"{'#' * (1 + draw(4))} {words(4)}"
    if kind == 1:
        return "\n".join(f"{'  ' * draw(3)}- {words(8)}" for _ in range(4))
    if kind == 2:
        return "\n".join(f"> {'> ' * draw(2)}{words(10)}" for _ in range(3))
    if kind == 3:
        return f"```c\n{words(6)}\n    {words(5)}\n```"
    if kind == 4:
        return "\n".join(f"{n}. {words(9)}" for n in range(1, 4))
    if kind == 5:
        return f"[{'bcdfg'[draw(5)]}a{i}]: http://example.org/{i} 'title {i}'"
    return "\n".join(words(12) for _ in range(1 + draw(5)))


print("\n\n".join(paragraph(i) for i in range(int(sys.argv[1]))))
