"""Numbers that README.md and the evaluation's pages state by name: each from the recorded trials by second_way.py, without
stabctl and without the code that makes the tables. plans/evaluation/claims compares them with what is printed."""
import functools
import itertools
import json
import lzma
import math
import statistics
from collections import defaultdict
from pathlib import Path
from typing import Callable, NamedTuple

import second_way as way
from atlas_numbers import add_atlas
from histories_numbers import add_histories
from race_numbers import add_race
from sliced_numbers import add_sliced

DATA = Path(__file__).resolve().parents[2] / "docs/evaluation/data"
COMPILERS = {"plain": "clang-19", "randomized": "szc"}
CODES = {"one": "once", "many": "shuffle"}


class Number(NamedTuple):
    value: Callable
    within: float = 0   # the share by which the other way may differ: it is another approximation


@functools.cache
def trials(experiment):
    """Recorded trials as dictionaries, with the names of their subjects and the levels of their cells."""
    kept = json.loads(lzma.decompress((DATA / f"{experiment}.json.xz").read_bytes()))
    columns, rows = kept["trials"], []
    for values in zip(*columns.values()):
        row = dict(zip(columns, values))
        if row["state"] == "recorded":
            cpu_ns = None if row["user_ns"] is None else row["user_ns"] + row["system_ns"]
            row |= {"subject": kept["subjects"][row["subject"]], "cpu_ns": cpu_ns, **kept["cells"][row["cell"]]}
            rows.append(row)
    return rows


def subjects(experiment):
    return sorted({row["subject"] for row in trials(experiment)})


def chosen(experiment, response, **levels):
    """{subject: the response of its trials with these levels}."""
    found = defaultdict(list)
    for row in trials(experiment):
        if all(row[name] == level for name, level in levels.items()):
            found[row["subject"]].append(row[response])
    return found


# A/A pairs

@functools.cache
def sides(kind, builds, response="wall_ns"):
    """[(A's times, B's)] on logarithms, by pair, in the order of their names."""
    factor, levels = ("env_size", ("0", "1040")) if kind == "env" else ("side", ("A", "B"))
    both = [chosen(f"aa-{kind}", response, cc=COMPILERS[builds], **{factor: level}) for level in levels]
    return [tuple(way.logs(side[subject]) for side in both) for subject in sorted(both[0])]


@functools.cache
def alarms(kind, builds, test):
    return sum(test(a, b) < 0.05 for a, b in sides(kind, builds))


def share(builds, bound):
    n = sum(alarms(kind, builds, way.welch) for kind in ("link", "unused", "env"))
    return 100 * (n / 216 if bound is None else way.clopper_pearson(n, 216)[bound])


def discordant():
    both = [[way.welch(a, b) < 0.05 for a, b in sides("link", builds)] for builds in COMPILERS]
    return way.sign_test(sum(p and not r for p, r in zip(*both)), sum(r and not p for p, r in zip(*both)))


def flips():
    """p of the programs' differences in alarms, plain less randomized, among all ways to turn their signs."""
    programs = defaultdict(int)
    for builds, sign in (("plain", 1), ("randomized", -1)):
        names = sorted(chosen("aa-link", "wall_ns", cc=COMPILERS[builds]))
        for name, (a, b) in zip(names, sides("link", builds)):
            programs[name.rpartition("-")[0]] += sign * (way.welch(a, b) < 0.05)
    sums = [abs(sum(s * d for s, d in zip(signs, programs.values()))) for signs in itertools.product((1, -1), repeat=len(programs))]
    return statistics.fmean(total >= abs(sum(programs.values())) for total in sums)


def distances(kind, builds, centre):
    return [abs(centre(a) - centre(b)) for a, b in sides(kind, builds)]


def apart(kind, builds, centre):
    return 100 * math.expm1(statistics.median(distances(kind, builds, centre)))


def apart_p(kind, centre):
    return way.signed_ranks([p - r for p, r in zip(*(distances(kind, builds, centre) for builds in COMPILERS))])


@functools.cache
def blocked_alarms(kind, builds):
    """Pairs whose sides the paired t-test within blocks calls different, in CPU time."""
    sides = [defaultdict(dict), defaultdict(dict)]
    for row in trials(f"aa-{kind}"):
        if row["cc"] == COMPILERS[builds]:
            sides[row["side"] == "B"][row["subject"]][row["block"]] = math.log(row["task-clock"])
    return {s for s in sides[0] if way.paired([sides[0][s][b] - sides[1][s][b] for b in sides[0][s].keys() & sides[1][s].keys()])["p"] < 0.05}


@functools.cache
def pair_distances(kind, builds):
    """{pair: distance of its sides' medians, CPU time}."""
    names = sorted(chosen(f"aa-{kind}", "task-clock", cc=COMPILERS[builds]))
    return {name: abs(statistics.median(a) - statistics.median(b)) for name, (a, b) in zip(names, sides(kind, builds, "task-clock"))}


def program_means(kind, builds):
    programs = defaultdict(list)
    for name, distance in pair_distances(kind, builds).items():
        programs[name.rpartition("-")[0]].append(distance)
    return {program: statistics.fmean(own) for program, own in programs.items()}


def asked_p(kind):
    """Of the three questions that were asked before: pairs, programs, alarms."""
    plain, randomized = (pair_distances(kind, builds) for builds in COMPILERS)
    of_programs = [program_means(kind, builds) for builds in COMPILERS]
    only = [len(blocked_alarms(kind, a) - blocked_alarms(kind, b)) for a, b in itertools.permutations(COMPILERS)]
    return [way.signed_ranks([plain[name] - randomized[name] for name in plain]),
            way.signed_ranks([of_programs[0][name] - of_programs[1][name] for name in of_programs[0]]), way.sign_test(*only)]


def add_asked_pairs(add, run):
    """What the pages say of a run of the wide plan, as aa.RUN.*."""
    def say(name, value):
        add(f"aa.{run}.{name}", value)

    say("pairs", lambda: len(pair_distances(run, "plain")))
    say("programs", lambda: len(program_means(run, "plain")))
    for builds in COMPILERS:
        alarmed = functools.partial(blocked_alarms, run, builds)
        say(f"{builds}.t", lambda builds=builds: alarms(run, builds, way.welch))
        say(f"{builds}.ranks", lambda builds=builds: alarms(run, builds, way.mann_whitney))
        say(f"{builds}.blocks", lambda alarmed=alarmed: len(alarmed()))
        say(f"{builds}.blocks.share", lambda alarmed=alarmed: 100 * len(alarmed()) / len(pair_distances(run, "plain")))
        for bound, at in (("low", 0), ("high", 1)):
            say(f"{builds}.blocks.{bound}",
                lambda alarmed=alarmed, at=at: 100 * way.clopper_pearson(len(alarmed()), len(pair_distances(run, "plain")))[at])
        say(f"apart.{builds}", lambda builds=builds: 100 * math.expm1(statistics.median(pair_distances(run, builds).values())))
    for at, name in enumerate(("pairs", "programs", "alarms")):
        say(f"p.{name}", lambda at=at: asked_p(run)[at])
        say(f"holm.{name}", lambda at=at: way.holm(asked_p(run))[at])
    say("further", lambda: sum(plain > randomized for plain, randomized in
                               zip(*(program_means(run, builds).values() for builds in COMPILERS))))


def short_run_costs():
    """What everything on costs in the A/A runs at epochs of 5 ms, by kind: the median over the programs of the median over their pairs."""
    costs = []
    for kind in ("link", "unused", "env"):
        plain, randomized = (chosen(f"aa-{kind}", "cpu_ns", cc=cc) for cc in COMPILERS.values())
        programs = defaultdict(list)
        for subject in plain:
            programs[subject.rpartition("-")[0]].append(statistics.median(randomized[subject]) / statistics.median(plain[subject]))
        costs.append(100 * (statistics.median(map(statistics.median, programs.values())) - 1))
    return costs


@functools.cache
def late_doses():
    """Layouts of the randomized trials that executed less than 85 % of what is the median of their program: (program, layouts)."""
    by_program = defaultdict(list)
    for kind in ("link", "unused", "env"):
        for row in trials(f"aa-{kind}"):
            if row["cc"] == COMPILERS["randomized"]:
                by_program[row["subject"].rpartition("-")[0]].append(row["layouts_executed"])
    return [(program, n) for program, layouts in by_program.items() for n in layouts if n < 0.85 * statistics.median(layouts)]


# Sensitivity

def slowed(builds, workload, slow):
    rows = [row for row in trials("sensitivity") if row["cc"] == COMPILERS[builds] and row["subject"] == f"{workload}/short" and row["slow"] == slow]
    if builds == "randomized":
        return [row["task-clock"] for row in rows]
    links = defaultdict(list)
    for row in rows:
        links[row["link"]].append(row["task-clock"])
    return [statistics.median(times) for times in links.values()]


def long_trials(response):
    """What trials that took a tenth longer than the median of their cell took more, and of how many trials they are."""
    cells = defaultdict(list)
    for row in trials("sensitivity"):
        cells[row["subject"], row["cc"], row["slow"]].append(row[response])
    more = [time / statistics.median(times) - 1 for times in cells.values() for time in times]
    return [share for share in more if share > 0.1], len(more)


def needed(workload, slow):
    """Noether's formula (1987): how many a side Mann and Whitney's test needs, from how often a slowed trial is the longer one."""
    plain = slowed("randomized", workload, "0")
    longer = statistics.fmean(x * (1 + float(slow) / 100) > y for x, y in itertools.product(plain, plain))
    return (way.NORMAL.inv_cdf(0.975) + way.NORMAL.inv_cdf(0.8)) ** 2 / (6 * (longer - 0.5) ** 2)


def found(builds, slow):
    """In how many of the programs."""
    return sum(way.mann_whitney(slowed(builds, workload, slow), slowed(builds, workload, "0")) < 0.05 for workload in ("bzip2", "lua"))


def wrong_signs(workload, slow):
    return 100 * statistics.fmean(a < b for a, b in itertools.product(slowed("plain", workload, slow), slowed("plain", workload, "0")))


# Control

@functools.cache
def order_costs(code, order, experiment="control"):
    """By workload: percent over the source's order."""
    of, source = (chosen(experiment, "task-clock", code=code, order=o) for o in (order, "source"))
    return {s: 100 * math.expm1(way.shift(way.logs(of[s]), way.logs(source[s]))[0]) for s in source}


@functools.cache
def order_p(code):
    sides = {o: chosen("control", "task-clock", code=code, order=o) for o in ("source", "hot", "scattered", "colliding")}
    return way.holm([way.mann_whitney(sides[o][s], sides["source"][s]) for s in sorted(sides["source"]) for o in sides if o != "source"])


@functools.cache
def interaction(experiment="control", response="task-clock"):
    """By workload: p of what the colliding order costs more where it is kept, block by block."""
    times = {(row["subject"], row["code"], row["order"], row["block"]): math.log(row[response]) for row in trials(experiment)}
    p = {}
    for subject in subjects(experiment):
        blocks = sorted({key[3] for key in times if key[0] == subject})
        p[subject] = way.signed_ranks([sum(sign * times[subject, code, order, block] for code, order, sign in (
            ("pad", "colliding", 1), ("pad", "source", -1), ("shuffle", "colliding", -1), ("shuffle", "source", 1))) for block in blocks])
    return p


# Overhead

@functools.cache
def cost(experiment, heap="page", epoch="500ms", code="shuffle", stack="on"):
    """By workload: CPU time over that of the plain links, each of which counts once."""
    def draws(rows):
        links = defaultdict(list)
        for i, row in enumerate(rows):
            links[("link", row["link"]) if row["link"] else ("trial", i)].append(row["cpu_ns"])
        return way.logs(map(statistics.fmean, links.values()))
    by_workload = {}
    for subject in subjects(experiment):
        own = [row for row in trials(experiment) if row["subject"] == subject]
        ours = [r for r in own if (r["cc"], r["code"], r["stack"], r["heap"]) == ("szc", code, stack, heap) and (code == "off" or r["epoch"] == epoch)]
        plain = [r for r in own if r["cc"] == "clang-19"]
        by_workload[subject] = math.exp(way.shift(draws(ours), draws(plain))[0])
    return by_workload


def median_cost(experiment, bound=None, **cell):
    costs = cost(experiment, **cell).values()
    return 100 * ((statistics.median(costs) if bound is None else way.median_bounds(costs)[bound]) - 1)


def layouts(pick, experiments, epoch, heaps=("off", "page")):
    """In a run with the code on at these epochs."""
    return pick(row["layouts_executed"] for name in experiments for row in trials(name)
                if (row["code"], row["epoch"]) == ("shuffle", epoch) and row["heap"] in heaps)


MACHINES = {"zen5": "overhead-main", "xeon": "overhead-main-xeon"}


# Simulated cost

@functools.cache
def simulated_spread(visits):
    return statistics.stdev(way.logs([row["simulated_cost"] for row in trials("simulated") if row["epoch"] == f"{visits}visits"]))


# How much of the variance is layout

@functools.cache
def layout_share(response="task-clock"):
    """By workload: (share of layout in the variance of a run, p)."""
    found = {}
    for subject in subjects("layout-share"):
        logs = {code: defaultdict(list) for code in ("once", "off")}
        for row in trials("layout-share"):
            if row["subject"] == subject:
                logs[row["code"]][row["block"]].append(math.log(row[response]))
        both = sorted(logs["once"].keys() & logs["off"].keys())
        differences = [[x - y for x, y in zip(logs["once"][block], logs["off"][block])] for block in both]
        between, _ = way.components(differences)
        _, run = way.components([logs["once"][block] for block in both])
        found[subject] = between / (between + run), way.kruskal_wallis(differences)
    return found


def layouts_seen(adjust):
    return sum(p < 0.05 for p in adjust([p for _, p in layout_share().values()]))


# Normality

def calm():
    lost = defaultdict(list)
    for row in trials("normality"):
        lost[row["block"]].append(1 - row["cpu_ns"] / row["wall_ns"])
    return {block for block, shares in lost.items() if max(shares) < 0.2}


def not_normal(code, response, left_out=0, adjust=lambda p: p):
    blocks, p = calm(), []
    for subject in subjects("normality"):
        times = sorted(row[response] for row in trials("normality")
                       if row["subject"] == subject and row["code"] == CODES[code] and row["block"] in blocks)
        p.append(way.shapiro_wilk(times[:len(times) - left_out]))
    return sum(x < 0.05 for x in adjust(p))


# Programs as observations

def changes(experiment, factor, levels, response="user_ns", of=statistics.fmean, **cells):
    """The programs' changes on logarithms from the first level to the second, each the mean of its workloads'."""
    first, second = (chosen(experiment, response, **{factor: level}, **cells) for level in levels)
    programs = defaultdict(list)
    for subject in first:
        if of is statistics.fmean:
            programs[subject.split("/")[0]].append(math.log(statistics.fmean(second[subject]) / statistics.fmean(first[subject])))
        else:
            programs[subject.split("/")[0]].append(math.log(statistics.median(second[subject]) / statistics.median(first[subject])))
    return [statistics.fmean(own) for own in programs.values()]


def over_programs(what, *arguments, level=0.95, **more):
    answer = way.paired(changes(*arguments, **more), level)[what]
    return 100 * math.expm1(answer) if what in ("mean", "low", "high") else answer


@functools.cache
def effects(experiment, response):
    """{effect: (percent, F, p)} of the ablation: code, stack, heap and what they do together, by the medians of the cells, a link's once."""
    firsts = {"code": "off", "stack": "off", "heap": "off"}
    centres = defaultdict(dict)
    for cell in itertools.product(("off", "shuffle"), ("off", "on"), ("off", "page")):
        by_workload = defaultdict(lambda: defaultdict(list))
        for i, row in enumerate(trials(experiment)):
            if (row["code"], row["stack"], row["heap"]) == cell:
                by_workload[row["subject"]][row["link"] or f"trial {i}"].append(row[response])
        for subject, links in by_workload.items():
            centres[subject.split("/")[0]].setdefault(cell, []).append(math.log(statistics.median(map(statistics.median, links.values()))))
    answers = {}
    for size in (1, 2, 3):
        for names in itertools.combinations(range(3), size):
            contrasts = []
            for cells in centres.values():
                signed = [math.prod(-1 if cell[i] == "off" else 1 for i in names) * statistics.fmean(values) for cell, values in cells.items()]
                contrasts.append(2 * statistics.fmean(signed))
            answer = way.paired(contrasts)
            answers[":".join(list(firsts)[i] for i in names)] = (100 * math.expm1(answer["mean"]), answer["f"], answer["p"])
    return answers


def adjusted(experiment, response, effect):
    found = effects(experiment, response)
    return dict(zip(found, way.holm([p for _, _, p in found.values()])))[effect]


def numbers():
    named = {}

    def add(name, value, within=0):
        named[name] = Number(functools.cache(value), within)

    add("aa.pairs", lambda: len(sides("link", "plain")))
    add("aa.trials", lambda: len(sides("link", "plain")[0][0]))
    for kind, builds in itertools.product(("link", "unused", "env"), COMPILERS):
        add(f"aa.{kind}.{builds}.t", lambda kind=kind, builds=builds: alarms(kind, builds, way.welch))
        add(f"aa.{kind}.{builds}.ranks", lambda kind=kind, builds=builds: alarms(kind, builds, way.mann_whitney))
    for builds in COMPILERS:
        add(f"aa.link.{builds}.share", lambda builds=builds: 100 * alarms("link", builds, way.welch) / 72)
        for what, bound in (("share", None), ("low", 0), ("high", 1)):
            add(f"aa.all.{builds}.{what}", lambda builds=builds, bound=bound: share(builds, bound))
    add("aa.link.mcnemar", discordant)
    add("aa.link.flips", flips)
    add("aa.late.least", lambda: min(n for _, n in late_doses()))
    add("aa.late.most", lambda: max(n for _, n in late_doses()))
    for order in "01234":
        for name, code in (("fixed", "off"), ("randomized", "shuffle")):
            add(f"data.libquantum.{name}.{order}", lambda order=order, code=code: statistics.median(
                chosen("data", "user_ns", data=order, code=code)["libquantum/factor"]) / 1e9)
    for name, centre in (("medians", statistics.median), ("means", statistics.fmean)):
        for builds in COMPILERS:
            add(f"aa.link.apart.{name}.{builds}", lambda centre=centre, builds=builds: apart("link", builds, centre))
        add(f"aa.link.apart.{name}.p", lambda centre=centre: apart_p("link", centre))
    for run in ("wide", "wide-alone"):
        add_asked_pairs(add, run)
    for builds in COMPILERS:
        add(f"aa.both.{builds}", lambda builds=builds: len(blocked_alarms("wide", builds) & blocked_alarms("wide-alone", builds)))
    for layouts_k in (4, 15, 30, 60):
        visits = {4: 15, 15: 4, 30: 2, 60: 1}[layouts_k]
        add(f"simulated.{layouts_k}.excess", lambda k=layouts_k, v=visits: simulated_spread(v) * math.sqrt(k) / simulated_spread(0))
        add(f"simulated.{layouts_k}.ratio", lambda v=visits: 100 * simulated_spread(v) / simulated_spread(0))
    add("share.median", lambda: 100 * statistics.median(share for share, _ in layout_share().values()))
    add("share.most", lambda: 100 * max(share for share, _ in layout_share().values()))
    add("share.seen", lambda: layouts_seen(lambda p: p))
    add("share.seen.holm", lambda: layouts_seen(way.holm))
    add("share.programs", lambda: len(layout_share()))
    for code in ("pad", "shuffle"):
        for name, pick in (("least", min), ("most", max)):
            add(f"control-zen4.{code}.{name}", lambda code=code, pick=pick: pick(order_costs(code, "colliding", "control-zen4").values()))
    add("control-zen4.interaction.holm", lambda: max(way.holm(list(interaction("control-zen4").values()))))
    add("control-zen4.interaction.seen", lambda: sum(p < 0.05 for p in way.holm(list(interaction("control-zen4").values()))))
    for epoch in ("500ms", "10ms"):
        for what, bound in (("median", None), ("low", 0), ("high", 1)):
            add(f"dose.cost.{epoch}.{what}", lambda epoch=epoch, bound=bound: median_cost("overhead-dose", bound, epoch=epoch))
        add(f"dose.cost.{epoch}.worst", lambda epoch=epoch: 100 * (max(cost("overhead-dose", epoch=epoch).values()) - 1))
        for name, pick in (("least", min), ("most", max)):
            add(f"dose.cost.{epoch}.layouts.{name}", lambda epoch=epoch, pick=pick: layouts(pick, ["overhead-dose"], epoch, ("page",)))
    add("cost.5ms.least", lambda: min(short_run_costs()))
    add("cost.5ms.most", lambda: max(short_run_costs()))

    for workload, slow in itertools.product(("bzip2", "lua"), ("0.5", "1", "2")):
        add(f"sensitivity.{workload}.{slow}.needed", lambda workload=workload, slow=slow: needed(workload, slow), 0.06)
        add(f"sensitivity.{workload}.{slow}.wrong", lambda workload=workload, slow=slow: wrong_signs(workload, slow))
    for builds, slow in itertools.product(COMPILERS, ("0.5", "1", "2")):
        add(f"sensitivity.{builds}.{slow}.found", lambda builds=builds, slow=slow: found(builds, slow))
    add("sensitivity.long.one_in", lambda: (lambda found: found[1] / len(found[0]))(long_trials("task-clock")))
    add("sensitivity.long.most", lambda: 100 * max(long_trials("task-clock")[0]))
    add("sensitivity.trials", lambda: len(slowed("randomized", "lua", "0")))

    for code, (pick, name) in itertools.product(("pad", "shuffle"), ((min, "least"), (max, "most"))):
        add(f"control.{code}.{name}", lambda code=code, pick=pick: pick(order_costs(code, "colliding").values()))
        add(f"control.{code}.differ", lambda code=code: sum(p < 0.05 for p in order_p(code)))
    add("control.interaction.largest", lambda: max(interaction().values()))
    for subject in ("tcl", "sqlite3", "gnugo", "perl"):
        add(f"control.interaction.{subject}", lambda subject=subject: interaction()[f"{subject}/short"])

    for machine, experiment in MACHINES.items():
        for what, bound in (("median", None), ("low", 0), ("high", 1)):
            add(f"cost.500ms.{machine}.{what}", lambda experiment=experiment, bound=bound: median_cost(experiment, bound))
        add(f"cost.500ms.{machine}.worst", lambda experiment=experiment: 100 * (max(cost(experiment).values()) - 1))
    for name, pick in (("least", min), ("most", max)):
        add(f"cost.500ms.layouts.{name}", lambda pick=pick: layouts(pick, MACHINES.values(), "500ms"))
        for machine, experiment in MACHINES.items():
            add(f"cost.20ms.{machine}.layouts.{name}", lambda pick=pick, experiment=experiment: layouts(pick, [experiment], "20ms"))
        for epoch in ("500ms", "20ms"):
            add(f"overhead.{epoch}.layouts.{name}", lambda pick=pick, epoch=epoch: layouts(pick, ["overhead"], epoch, ("off", "page", "shuffle")))
    add("workloads", lambda: len(subjects("overhead-main")))

    for code, (name, response) in itertools.product(CODES, (("wall", "wall_ns"), ("cpu", "cpu_ns"))):
        for rule, left_out in (("all", 0), ("dropped", 1)):
            add(f"normality.{rule}.{name}.{code}", lambda code=code, response=response, left_out=left_out: not_normal(code, response, left_out))
            add(f"normality.{rule}.{name}.{code}.holm",
                lambda code=code, response=response, left_out=left_out: not_normal(code, response, left_out, way.holm))

    compared = {"o2": ("optimization", "opt", ("-O1", "-O2")), "o3": ("optimization", "opt", ("-O2", "-O3")),
                "pgo": ("pgo", "opt", ("-O2", "-O3")), "lto": ("lto", "opt", ("-O2", "-O3")),
                "dose.100": ("dose", "epoch", ("500ms", "100ms"), {"stack_range": "4096"}),
                "dose.20": ("dose", "epoch", ("100ms", "20ms"), {"stack_range": "4096"}),
                "dose.shuffle": ("dose", "heap", ("page", "shuffle"), {"stack_range": "4096"}),
                "dose.256": ("dose", "stack_range", ("4096", "256"), {"heap": "page", "epoch": "20ms"}),
                "dose.16": ("dose", "stack_range", ("256", "16"), {"heap": "page", "epoch": "20ms"})}
    for name, (experiment, factor, levels, *cells) in compared.items():
        for (clock, response), (estimator, of) in itertools.product((("wall", "wall_ns"), ("user", "user_ns")),
                                                                    (("means", statistics.fmean), ("medians", statistics.median))):
            for what, level in (("mean", 0.95), ("low", 0.95), ("high", 0.95), ("low", 0.9), ("high", 0.9), ("f", 0.95), ("p", 0.95)):
                label = what + ("90" if level == 0.9 else "")
                add(f"{name}.{clock}.{estimator}.{label}", functools.partial(
                    over_programs, what, experiment, factor, levels, level=level, response=response, of=of, **(cells[0] if cells else {})))
    for run, (clock, response) in itertools.product(("ablation", "ablation-zen5"), (("wall", "wall_ns"), ("user", "user_ns"))):
        for effect, (at, what) in itertools.product(("code", "stack", "heap"), enumerate(("change", "f", "p"))):
            add(f"{run}.{clock}.{effect}.{what}", lambda run=run, response=response, effect=effect, at=at: effects(run, response)[effect][at])
        add(f"{run}.{clock}.code.holm", lambda run=run, response=response: adjusted(run, response, "code"))
    add_sliced(add, trials)
    add_atlas(add)
    add_histories(add)
    add_race(add, trials, "race", "race")
    add_race(add, trials, "race-quiet", "race.quiet")
    return named


NUMBERS = numbers()
