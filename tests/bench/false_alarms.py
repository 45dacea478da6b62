"""How often two profilers say "worth it" of lines that are worth nothing: verdicts of sets of lines, their sums, and exact intervals."""
import math

MARGIN = 0.02


def at_least(hits, of, rate):
    """Chance of so many hits or more at that rate."""
    return sum(math.comb(of, k) * rate**k * (1 - rate)**(of - k) for k in range(hits, of + 1))


def interval(hits, of, level=0.95):
    """Of Clopper and Pearson (1934), which is exact."""
    def solved(holds):
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if holds(middle) else (low, middle)
        return (low + high) / 2
    tail = (1 - level) / 2
    return (0.0 if hits == 0 else solved(lambda rate: at_least(hits, of, rate) < tail),
            1.0 if hits == of else solved(lambda rate: 1 - at_least(hits + 1, of, rate) > tail))


def word_of(gain):
    """What a reader makes of an estimate who has nothing else."""
    return "nothing" if gain is None else "worth it" if gain >= MARGIN else "harmful" if gain <= -MARGIN else "small"


def verdict_of_rates(base, fast):
    """What a reader makes of COZ's runs, by the mean gain of their pairs: rates without and with the line faster. A pair of which one made
    no experiment says nothing."""
    gains = [1 - one / other for one, other in zip(base, fast) if one and other]
    gain = sum(gains) / len(gains) if gains else None
    return {"verdict": word_of(gain), "gain": gain}


def said(sets, who, real):
    """Each line's word, of all sets: of the one that is worth something (real), or of those that are not."""
    return [verdict for one in sets for line, verdict in one[who].items() if (line == one["real"]) == real]


def counted(words, hit):
    hits, of = sum(word == hit for word in words), len(words)
    if of == 0:
        return "-"
    low, high = interval(hits, of)
    return f"{hits} of {of}, {100 * hits / of:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"


def table(sets):
    """One row a profiler. sets: {"real": the line that is worth something, profiler: {line: word}}; profilers are all other keys."""
    rows = ["| who | null lines \"worth it\" [95 %] | sets with any | null lines without a word | the real line \"worth it\" |",
            "|---|---:|---:|---:|---:|"]
    for who in (key for key in sets[0] if key != "real"):
        nulls = said(sets, who, False)
        any_of = ["worth it" if "worth it" in [word for line, word in one[who].items() if line != one["real"]] else "none" for one in sets]
        silent = sum(word in ("withheld", "unsure", "nothing") for word in nulls)
        rows.append(f"| {who} | {counted(nulls, 'worth it')} | {any_of.count('worth it')} of {len(sets)} | {silent} | "
                    f"{said(sets, who, True).count('worth it')} of {len(sets)} |")
    return "\n".join(rows)
