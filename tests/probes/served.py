"""Runs in which helper and program had their turns.

A program that lasts a moment proves nothing about its layouts where it, or its helper, waits for a CPU for as long: such a run is
no failure and no proof. The dose says how it was, and other runs are made, longer ones where the program can, until one counts.
"""
MOST_RUNS = 40
MOST_LONGER = 16


def turns(dose):
    """Epochs that the helper was awake at the beginning of, after the program had run in the layout before."""
    return dose["helper"]["ticks"] - dose["code"]["ticks_unentered"]


def served(wanted, run):
    """What `run` returns, whose last element is a dose, of its first run with at least so many turns. It is given how many times
    longer than at first the run had best be."""
    most = 0
    for number in range(MOST_RUNS):
        result = run(min(2 ** number, MOST_LONGER))
        most = max(most, turns(result[-1]))
        if most >= wanted:
            return result
    raise AssertionError(f"in {MOST_RUNS} runs helper and program had {most} turns at most, of {wanted}")


def quickest(bound_s, run):
    """The time of the first run below the bound, or the shortest of ten: what waits for something waits each time."""
    times = []
    while len(times) < 10 and (not times or times[-1] >= bound_s):
        times.append(run())
    return min(times)
