"""The measurements that README.md states, as the words that hold them. README has no marks, so that it can be read and edited as it is;
{NAME} stands for the number of that name (named_numbers.py), and each of these phrases must be in README with the numbers of the recorded trials."""

README_NUMBERS = [
    "| {thousand.n} pairs of {thousand.programs} programs, 6 runs of each build in time slices, two machines, test fixed in advance | "
    "{thousand.plain.alarms} | {thousand.randomized.alarms} |",
    "In the first row, {thousand.randomized.share} % [{thousand.randomized.low}, {thousand.randomized.high}] of randomized pairs",
    "| {aa.wide-alone.pairs} pairs of {aa.wide-alone.programs} programs, test fixed in advance, noisy machine | {aa.wide-alone.plain.blocks} | {aa.wide-alone.randomized.blocks} |",
    "| {sliced.unused.n} pairs of {sliced.unused.programs} programs with an unused function in front instead, 6 runs in time slices, test fixed in "
    "advance | {sliced.unused.plain.alarms} | {sliced.unused.randomized.alarms} |",
    "(p = {aa.wide-alone.holm.alarms}, corrected for both)",
    "found {aa.wide.plain.blocks} and {aa.wide.randomized.blocks} alarms, which proves nothing (p = {aa.wide.p.alarms})",
    "found a planted 1 % in {race.matched.found} of {race.planted} cases.",
    "Hyperfine's way found it in {race.hyperfine.found}, and called the slower program faster in {race.hyperfine.faster}. "
    "On a quiet machine it was {race.quiet.matched.found} and {race.quiet.hyperfine.found} of {race.quiet.planted}",
    "Of {atlas.n} public commits that claim a speedup, {atlas.real} are faster in our runs wherever functions lie, and {atlas.other} are slower",
    "takes {sliced.third.cost.all.median} % [{sliced.third.cost.all.low}, {sliced.third.cost.all.high}] more CPU time in the median of {workloads} workloads, "
    "and {sliced.third.cost.all.worst} % in the worst",
    "Earlier heaps cost {sliced.cost.all.median} and {sliced.second.cost.all.median} %, and {sliced.cost.all.worst} and {sliced.second.cost.all.worst} % in the worst",
    "cost {cost.5ms.least} to {cost.5ms.most} % in the median of nine programs",
    "{normality.all.wall.one} of {workloads} workloads fail a test of it with one layout in each run, and {normality.all.wall.many} with many",
]
