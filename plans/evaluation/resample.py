"""How many values a side Mann and Whitney's test needs to find a slowdown, by drawing from those that were seen.

A formula from their spread takes a shape for granted that times don't have: with long trials in one of twenty it promises
too much. So trials are drawn, with replacement, from the side that isn't slowed, for one side as they are and for the other
made longer by what was injected; what is asked is how often the test then finds it.
"""
import bisect
import math
import random

TRIES = 2000
POWER = 0.8
MOST = 400            # beyond that nobody would run it here, and drawing takes long
CRITICAL = 1.959964   # two-sided, 5 %


def needed(values, share):
    """The fewest values a side that find it in POWER of the tries; None: more than MOST."""
    enough = 4
    while found(values, share, enough) < POWER:
        if enough == MOST:
            return None
        enough = min(2 * enough, MOST)
    return bisect.bisect_left(range(enough), POWER, lo=max(4, enough // 2), key=lambda n: found(values, share, n))


def found(values, share, n):
    """How often n values a side find it. The same draws each time it is asked."""
    # A value is its place among both sides' values, so a draw is counted and not sorted.
    slowed = [v * (1 + share) for v in values]
    places = {v: i for i, v in enumerate(sorted({*values, *slowed}))}
    sides, draw = [[places[v] for v in side] for side in (slowed, values)], random.Random(n)
    return sum(differ(*(draw.choices(side, k=n) for side in sides), len(places)) for _ in range(TRIES)) / TRIES


def differ(a, b, places):
    """Mann and Whitney's test at 5 %, normal, with continuity and ties: draws repeat, so nothing exact is simpler."""
    n, above, below, ties = len(a), [0] * places, [0] * places, 0
    for place in a:
        above[place] += 1
    for place in b:
        below[place] += 1
    u, seen = 0.0, 0
    for own, other in zip(above, below):
        if own or other:
            u += own * (seen + other / 2)
            seen += other
            ties += (own + other) ** 3 - own - other
    variance = n * n / 12 * (2 * n + 1 - ties / (2 * n * (2 * n - 1)))
    return variance > 0 and abs(u - n * n / 2) - 0.5 > CRITICAL * math.sqrt(variance)
