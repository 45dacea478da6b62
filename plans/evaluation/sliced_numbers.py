"""Numbers that the pages state of the sliced experiments, from the recorded trials by second_way.py, without stabctl and without
sliced_tables.py. named_numbers.py adds them to the others."""
import functools
import math
import statistics
from collections import Counter, defaultdict

import second_way as way

COMPILERS = {"plain": "clang-19", "randomized": "szc"}
PAIRS = {"sliced.pairs": ("aa-sliced", 0), "sliced.env": ("aa-sliced-env", 0), "sliced.unused": ("aa-sliced-unused", 0),
         "thousand": ("aa-thousand", 24)}   # the experiment, and the trials of a complete pair; 0: all count


def add_sliced(add, trials):
    """add(name, value); trials(experiment): its recorded trials as dictionaries."""
    for name, (experiment, full) in PAIRS.items():
        add_pairs(add, name, functools.partial(pair_answers, functools.partial(trials, experiment), full))
    add_sensitivity(add, functools.partial(planted_answers, trials))
    add_control(add, functools.partial(order_costs, trials))
    add_levels(add, functools.partial(level_changes, trials, "sliced-levels"), "sliced.levels", LEVELS)
    add_levels(add, functools.partial(level_changes, trials, "sliced-levels-second"), "sliced.second.levels", LEVELS)
    add_levels(add, functools.partial(optimizer_changes, trials), "sliced.optimizers", OPTIMIZERS)
    add_overhead(add, trials, "sliced-overhead", "sliced.cost")
    add_overhead(add, trials, "sliced-overhead-second", "sliced.second.cost")
    add_overhead(add, trials, "sliced-overhead-third", "sliced.third.cost")
    add_overhead(add, trials, "sliced-libraries", "sliced.libraries.cost")
    add_doses(add, functools.partial(dose_costs, trials, "sliced-doses"))
    add_linker(add, "sliced.lld", functools.partial(dose_costs, trials, "sliced-lld"))
    add_linker(add, "sliced.more.lld", functools.partial(dose_costs, trials, "sliced-lld-more"))
    add_shapes(add, functools.partial(shapes, trials))


def logs_by_block(rows):
    return {row["block"]: math.log(row["cpu_ns"]) for row in rows}


def differences(ours, base):
    a, b = logs_by_block(ours), logs_by_block(base)
    return [a[block] - b[block] for block in sorted(a.keys() & b.keys())]


def percent(log_ratio):
    return 100 * math.expm1(log_ratio)


@functools.cache
def pair_answers(trials, full, builds):
    """{pair: (p of the paired t-test, distance of the means, sd of a block's difference)}, of logarithms of CPU time. full: the trials of
    a pair that counts, of both builds; 0: each counts."""
    times, counts = defaultdict(lambda: defaultdict(dict)), Counter(row["subject"] for row in trials())
    for row in trials():
        if counts[row["subject"]] < full:
            continue
        if row["cc"] == COMPILERS[builds]:
            times[row["subject"]][row["block"]][row.get("side") or row["env_size"]] = math.log(row["cpu_ns"])
    found = {}
    for pair, blocks in times.items():
        differences = [sides[min(sides)] - sides[max(sides)] for sides in blocks.values() if len(sides) == 2]
        found[pair] = way.paired(differences)["p"], abs(statistics.fmean(differences)), statistics.stdev(differences)
    return found


def add_pairs(add, name, answers):
    def alarmed(builds):
        return {pair for pair, (p, *_) in answers(builds).items() if p < 0.05}

    def only(left, right):
        return len(alarmed(left) - alarmed(right))
    for builds in COMPILERS:
        add(f"{name}.{builds}.alarms", lambda builds=builds: len(alarmed(builds)))
        add(f"{name}.{builds}.share", lambda builds=builds: 100 * len(alarmed(builds)) / len(answers(builds)))
        for bound, at in (("low", 0), ("high", 1)):
            add(f"{name}.{builds}.{bound}", lambda builds=builds, at=at: 100 * way.clopper_pearson(len(alarmed(builds)), len(answers(builds)))[at])
        add(f"{name}.{builds}.apart", lambda builds=builds: 100 * statistics.median(d for _, d, _ in answers(builds).values()))
        add(f"{name}.{builds}.sd", lambda builds=builds: 100 * statistics.median(sd for *_, sd in answers(builds).values()))
        add(f"{name}.{builds}.furthest", lambda builds=builds: 100 * max(d for _, d, _ in answers(builds).values()))
    add(f"{name}.n", lambda: len(answers("plain")))
    add(f"{name}.programs", lambda: len({pair.rpartition("-")[0] for pair in answers("plain")}))
    add(f"{name}.p.alarms", lambda: way.sign_test(only("plain", "randomized"), only("randomized", "plain")))
    add(f"{name}.p.apart", lambda: way.signed_ranks([answers("plain")[pair][1] - answers("randomized")[pair][1] for pair in answers("plain")]))


# Planted slowdowns

@functools.cache
def planted_answers(trials):
    """[{builds, slow, held, right, wrong}] of each experiment of ten blocks."""
    turn = {}
    by_subject = defaultdict(lambda: defaultdict(list))
    for row in trials("sliced-turns"):
        by_subject[row["subject"]][row["slow"]].append(row)
    for subject, levels in by_subject.items():
        turn[subject] = math.exp(statistics.fmean(differences(levels["20"], levels["0"]))) - 1
    rows = defaultdict(list)
    for row in trials("sliced-sensitivity"):
        rows[row["subject"], row["cc"], row["slow"]].append(row)
    found = []
    for subject in turn:
        numbers = sorted({row["block"] for row in rows[subject, COMPILERS["plain"], "0"]})
        for slow in ("0.1", "0.25", "0.5", "1", "2"):
            truth = math.log1p(turn[subject] * float(slow) / 20)
            for builds, compiler in COMPILERS.items():
                slowed, plain = (logs_by_block(rows[subject, compiler, level]) for level in (slow, "0"))
                for at in range(0, len(numbers), 10):
                    blocks = [b for b in numbers[at:at + 10] if b in slowed and b in plain]
                    answer = way.paired([slowed[b] - plain[b] for b in blocks])
                    found.append({"builds": builds, "slow": slow, "held": answer["low"] <= truth <= answer["high"],
                                  "right": answer["p"] < 0.05 and answer["mean"] > 0, "wrong": answer["p"] < 0.05 and answer["mean"] < 0})
    return found


def add_sensitivity(add, answers):
    def of(builds, slow=None):
        return [answer for answer in answers() if answer["builds"] == builds and slow in (None, answer["slow"])]

    def only(ours, theirs):
        return sum(a["held"] and not b["held"] for a, b in zip(of(ours), of(theirs)))
    for builds in COMPILERS:
        add(f"sliced.planted.{builds}.held", lambda builds=builds: sum(a["held"] for a in of(builds)))
        add(f"sliced.planted.{builds}.n", lambda builds=builds: len(of(builds)))
        add(f"sliced.planted.{builds}.share", lambda builds=builds: 100 * sum(a["held"] for a in of(builds)) / len(of(builds)))
        add(f"sliced.planted.{builds}.wrong", lambda builds=builds: sum(a["wrong"] for a in of(builds)))
        for slow in ("0.1", "0.25", "0.5", "1", "2"):
            add(f"sliced.planted.{builds}.{slow}.found", lambda builds=builds, slow=slow: sum(a["right"] for a in of(builds, slow)))
            add(f"sliced.planted.{builds}.{slow}.n", lambda builds=builds, slow=slow: len(of(builds, slow)))
    add("sliced.planted.p", lambda: way.sign_test(only("randomized", "plain"), only("plain", "randomized")))


# The control

@functools.cache
def order_costs(trials):
    """{subject: ({code: differences of the colliding order to the source's}, p of what pad costs more)}"""
    rows = defaultdict(list)
    for row in trials("sliced-control"):
        rows[row["subject"], row["code"], row["order"]].append(row)
    found = {}
    for subject in sorted({key[0] for key in rows}):
        of = {code: (logs_by_block(rows[subject, code, "colliding"]), logs_by_block(rows[subject, code, "source"])) for code in ("pad", "shuffle")}
        blocks = sorted(set.intersection(*(set(side) for sides in of.values() for side in sides)))
        change = {code: [colliding[b] - source[b] for b in blocks] for code, (colliding, source) in of.items()}
        found[subject] = change, way.signed_ranks([a - b for a, b in zip(change["pad"], change["shuffle"])])
    return found


def add_control(add, answers):
    def seen():
        adjusted = way.holm([p for _, p in answers().values()])
        return sum(p < 0.05 and statistics.median(change["pad"]) > statistics.median(change["shuffle"])
                   for p, (change, _) in zip(adjusted, answers().values()))
    add("sliced.control.seen", seen)
    add("sliced.control.n", lambda: len(answers()))


# Overhead and levels

def paired_changes(trials, experiment, cell_of, sides):
    """{name: {subject: paired answer}} of the cells that cell_of(row) names, where a subject has whole blocks."""
    rows = defaultdict(list)
    for row in trials(experiment):
        rows[row["subject"], cell_of(row)].append(row)
    subjects = sorted({subject for subject, _ in rows})
    return {name: {subject: way.paired(own) for subject in subjects if (own := differences(rows[subject, ours], rows[subject, base]))}
            for name, (ours, base) in sides.items()}


@functools.cache
def costs(trials, experiment):
    return paired_changes(trials, experiment, lambda row: "plain" if row["cc"] == "clang-19" else "all" if row["code"] == "shuffle" else "off",
                          {"all": ("all", "plain"), "off": ("off", "plain")})


def add_overhead(add, trials, experiment, prefix):
    answers = functools.partial(costs, trials, experiment)

    def of_cadical(cell, column):
        code = {"all": "shuffle", "off": "off"}[cell]
        return statistics.fmean(row[column] for row in trials(experiment)
                                if row["subject"] == "cadical/random3" and row["cc"] == "szc" and row["code"] == code)
    for name in ("all", "off"):
        add(f"{prefix}.{name}.median", lambda name=name: percent(statistics.median(a["mean"] for a in answers()[name].values())))
        add(f"{prefix}.{name}.worst", lambda name=name: percent(max(a["mean"] for a in answers()[name].values())))
        for at, bound in enumerate(("low", "high")):
            add(f"{prefix}.{name}.{bound}", lambda name=name, at=at: percent(way.median_bounds([a["mean"] for a in answers()[name].values()])[at]))
        add(f"{prefix}.{name}.faults", lambda name=name: of_cadical(name, "page-faults"))
        add(f"{prefix}.{name}.system_ms", lambda name=name: of_cadical(name, "system_ns") / 1e6)
        add(f"{prefix}.{name}.sure", lambda name=name: sum(percent(a["low"]) > 5 for a in answers()[name].values()))
        add(f"{prefix}.{name}.half", lambda name=name: 100 * statistics.median((a["high"] - a["low"]) / 2 for a in answers()[name].values()))


EPOCHS = ("500ms", "100ms", "20ms", "10ms", "5ms")


@functools.cache
def dose_costs(trials, experiment):
    return paired_changes(trials, experiment, lambda row: "plain" if row["cc"] == "clang-19" else row["epoch"],
                          {epoch: (epoch, "plain") for epoch in EPOCHS})


def add_doses(add, answers):
    for epoch in EPOCHS:
        name = f"sliced.doses.{epoch}"
        add(f"{name}.median", lambda epoch=epoch: percent(statistics.median(a["mean"] for a in answers()[epoch].values())))
        add(f"{name}.worst", lambda epoch=epoch: percent(max(a["mean"] for a in answers()[epoch].values())))
        for at, bound in enumerate(("low", "high")):
            add(f"{name}.{bound}", lambda epoch=epoch, at=at: percent(way.median_bounds([a["mean"] for a in answers()[epoch].values()])[at]))


def add_linker(add, name, answers):
    def cost(epoch):
        return answers()[epoch]["lld/link"]
    for epoch in EPOCHS:
        for what in ("mean", "low", "high"):
            add(f"{name}.{epoch}.{what}", lambda epoch=epoch, what=what: percent(cost(epoch)[what]))
        add(f"{name}.{epoch}.half", lambda epoch=epoch: (percent(cost(epoch)["high"]) - percent(cost(epoch)["low"])) / 2)


# Normality, of the logarithms over the fixed layout of the block

@functools.cache
def shapes(trials):
    """{kind: {subject: (p of Shapiro and Wilk, standard deviation)}}."""
    kinds = {"fixed": ("off", "50ms"), "one": ("shuffle", "1h"), "some": ("shuffle", "50ms"), "many": ("shuffle", "10ms")}
    rows = defaultdict(list)
    for row in trials("sliced-normality"):
        rows[row["subject"], row["code"], row["epoch"]].append(row)
    found = {}
    for kind, levels in kinds.items():
        logs = {subject: differences(own, rows[subject, "off", "1h"]) for (subject, *of), own in sorted(rows.items()) if tuple(of) == levels}
        found[kind] = {subject: (way.shapiro_wilk(own), statistics.stdev(own)) for subject, own in logs.items()}
    return found


def add_shapes(add, answers):
    for kind in ("fixed", "one", "some", "many"):
        add(f"sliced.normality.{kind}", lambda kind=kind: sum(p < 0.05 for p, _ in answers()[kind].values()))
        add(f"sliced.normality.{kind}.sd", lambda kind=kind: 100 * statistics.median(sd for _, sd in answers()[kind].values()))
    add("sliced.normality.n", lambda: len(answers()["many"]))
    add("sliced.normality.narrower", lambda: statistics.median(answers()["one"][s][1] / answers()["many"][s][1] for s in answers()["many"]))


LEVELS = {"-O1": ("-O1", "-O2"), "-O3": ("-O3", "-O2"), "again": ("again", "-O2")}
OPTIMIZERS = {"pgo": ("off on", "off off"), "thin": ("thin off", "off off"), "both": ("thin on", "off off")}   # of lto and pgo


@functools.cache
def level_changes(trials, experiment):
    return paired_changes(trials, experiment, lambda row: row["opt"], LEVELS)


@functools.cache
def optimizer_changes(trials):
    return paired_changes(trials, "sliced-optimizers", lambda row: f"{row['lto']} {row['pgo']}", OPTIMIZERS)


def add_levels(add, answers, prefix, names):
    def over(level):
        means = defaultdict(list)
        for subject, answer in answers()[level].items():
            means[subject.split("/")[0]].append(answer["mean"])
        return way.paired([statistics.fmean(own) for own in means.values()])

    def sure(level, sign):
        own = list(answers()[level].values())
        return sum(p < 0.05 and answer["mean"] * sign > 0 for p, answer in zip(way.holm([a["p"] for a in own]), own))
    for level in names:
        for what in ("mean", "low", "high"):
            add(f"{prefix}.{level}.{what}", lambda level=level, what=what: percent(over(level)[what]))
        add(f"{prefix}.{level}.faster", lambda level=level: sure(level, -1))
        add(f"{prefix}.{level}.slower", lambda level=level: sure(level, 1))
        add(f"{prefix}.{level}.alarms", lambda level=level: sum(a["p"] < 0.05 for a in answers()[level].values()))
        add(f"{prefix}.{level}.half", lambda level=level: 100 * statistics.median((a["high"] - a["low"]) / 2 for a in answers()[level].values()))
    add(f"{prefix}.n", lambda: len(next(iter(answers().values()))))
