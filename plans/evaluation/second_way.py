"""The statistics of the evaluation's statements by a second way: from the textbooks' formulas, in this file alone.

plans/evaluation/tables asks stabctl stats for every number. A statement that rests on the same code as the table beside it
is checked for typing errors only; so plans/evaluation/claims computes it here, with nothing of analysis/, of recorded.py or of
the tables, and compares. Slow and plain is fine: samples have a hundred values.
"""
import functools
import itertools
import math
import statistics

NORMAL = statistics.NormalDist()


def incomplete_beta(a, b, x):
    """Regularized, by the continued fraction (Abramowitz and Stegun 26.5.8), from its tail forward."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, 1 - x)
    fraction = 1.0
    for i in range(200, 0, -1):
        m = i // 2
        term = (m * (b - m) / ((a + 2 * m - 1) * (a + 2 * m)) if i % 2 == 0 else
                -(a + m) * (a + b + m) / ((a + 2 * m) * (a + 2 * m + 1)))
        fraction = 1 + term * x / fraction
    return math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)) / a / fraction


def t_two_sided(t, df):
    return incomplete_beta(df / 2, 0.5, df / (df + t * t))


def f_upper(f, df, df2):
    return incomplete_beta(df2 / 2, df / 2, df2 / (df2 + df * f))


def crossing(increasing, low, high):
    """Where the function is 0."""
    for _ in range(70):
        middle = (low + high) / 2
        low, high = (low, middle) if increasing(middle) > 0 else (middle, high)
    return (low + high) / 2


@functools.cache   # thousands of pairs have a few degrees of freedom
def t_quantile(p, df):
    """Of p above a half."""
    return crossing(lambda t: 1 - t_two_sided(t, df) / 2 - p, 0, 1e4)


def clopper_pearson(k, n, level=0.95):
    tail = (1 - level) / 2
    low = 0.0 if k == 0 else crossing(lambda p: incomplete_beta(k, n - k + 1, p) - tail, 0, 1)
    high = 1.0 if k == n else crossing(lambda p: incomplete_beta(k + 1, n - k, p) - (1 - tail), 0, 1)
    return low, high


def sign_test(a, b):
    """Two-sided and exact: a against b of a + b fair coins (McNemar's test, and which of two things more often happened)."""
    n = a + b
    return min(1.0, 2 * sum(math.comb(n, k) for k in range(min(a, b) + 1)) / 2 ** n)


def logs(values):
    return [math.log(v) for v in values]


def welch(a, b):
    """p of the difference of two means."""
    va, vb = statistics.variance(a) / len(a), statistics.variance(b) / len(b)
    df = (va + vb) ** 2 / (va ** 2 / (len(a) - 1) + vb ** 2 / (len(b) - 1))
    return t_two_sided((statistics.fmean(a) - statistics.fmean(b)) / math.sqrt(va + vb), df)


def paired(differences, level=0.95):
    """{mean, low, high, t, df, p} of differences."""
    n, mean, error = len(differences), statistics.fmean(differences), statistics.stdev(differences) / math.sqrt(len(differences))
    wide = t_quantile((1 + level) / 2, n - 1) * error
    return {"mean": mean, "low": mean - wide, "high": mean + wide, "f": (mean / error) ** 2, "df": n - 1,
            "p": t_two_sided(mean / error, n - 1)}


def ranks(values):
    """Average ranks, and the sum of t^3 - t over ties."""
    order, given, ties = sorted(values), {}, 0
    for value, group in itertools.groupby(range(len(order)), key=order.__getitem__):
        at = list(group)
        given[value] = (at[0] + at[-1]) / 2 + 1
        ties += len(at) ** 3 - len(at)
    return [given[v] for v in values], ties


def mann_whitney(a, b):
    """p. Exact below 50 a side without ties, by counting partitions; else normal, with continuity and ties."""
    m, n = len(a), len(b)
    all_ranks, ties = ranks([*a, *b])
    u = sum(all_ranks[:m]) - m * (m + 1) / 2
    if ties == 0 and max(m, n) < 50:
        ways = gaussian_binomial(m, n)
        tail = sum(ways[:int(min(u, m * n - u)) + 1])
        return min(1.0, 2 * tail / math.comb(m + n, m))
    sigma = math.sqrt(m * n / 12 * (m + n + 1 - ties / ((m + n) * (m + n - 1))))
    return 2 * NORMAL.cdf(-max(0.0, abs(u - m * n / 2) - 0.5) / sigma)


@functools.cache
def gaussian_binomial(m, n):
    """How many of the orders of m and n things have U = 0, 1, ...: the coefficients of (m + n choose m) in q."""
    ways = [1] + [0] * (m * n)
    for i in range(1, m + 1):
        for s in range(m * n, n + i - 1, -1):   # times 1 - q^(n + i)
            ways[s] -= ways[s - n - i]
        for s in range(i, m * n + 1):           # over 1 - q^i
            ways[s] += ways[s - i]
    return ways


def shift(a, b):
    """Hodges and Lehmann's estimate of a - b with its interval of 95 % (normal, for large samples)."""
    differences = sorted(x - y for x in a for y in b)
    m, n = len(a), len(b)
    low = math.floor(m * n / 2 - 0.5 - NORMAL.inv_cdf(0.975) * math.sqrt(m * n * (m + n + 1) / 12))
    return statistics.median(differences), differences[low], differences[-low - 1]


def signed_ranks(differences):
    """p of Wilcoxon's signed ranks: exact below 50 without ties, by counting signs; else normal with continuity."""
    sizes, ties = ranks([abs(d) for d in differences])
    if ties == 0 and len(differences) < 50:
        ways, up = [1], round(sum(r for r, d in zip(sizes, differences) if d > 0))
        for rank in range(1, len(differences) + 1):
            ways = [x + y for x, y in itertools.zip_longest(ways, [0] * rank + ways, fillvalue=0)]
        return min(1.0, 2 * sum(ways[:min(up, len(ways) - 1 - up) + 1]) / 2 ** len(differences))
    n, up = len(differences), sum(r for r, d in zip(sizes, differences) if d > 0)
    sigma = math.sqrt(n * (n + 1) * (2 * n + 1) / 24 - ties / 48)
    return 2 * NORMAL.cdf(-max(0.0, abs(up - n * (n + 1) / 4) - 0.5) / sigma)


@functools.cache
def normal_quantiles(n):
    return [NORMAL.inv_cdf((i - 0.375) / (n + 0.25)) for i in range(1, n + 1)]


def shapiro_wilk(values):
    """p, by Royston's approximation (AS R94, Applied Statistics 44, 1995), of 12 values and more."""
    x, n = sorted(values), len(values)
    m = normal_quantiles(n)
    total, root = sum(v * v for v in m), 1 / math.sqrt(n)
    last = polynomial((0, 0.221157, -0.147981, -2.07119, 4.434685, -2.706056), root) + m[-1] / math.sqrt(total)
    before = polynomial((0, 0.042981, -0.293762, -1.752461, 5.682633, -3.582633), root) + m[-2] / math.sqrt(total)
    scale = math.sqrt((total - 2 * m[-1] ** 2 - 2 * m[-2] ** 2) / (1 - 2 * last ** 2 - 2 * before ** 2))
    weights = [-last, -before, *(v / scale for v in m[2:-2]), before, last]
    w = sum(a * v for a, v in zip(weights, x)) ** 2 / sum((v - statistics.fmean(x)) ** 2 for v in x)
    log_n = math.log(n)
    mean = polynomial((-1.5861, -0.31082, -0.083751, 0.0038915), log_n)
    sd = math.exp(polynomial((-0.4803, -0.082676, 0.0030302), log_n))
    return NORMAL.cdf(-(math.log(1 - w) - mean) / sd)


def polynomial(coefficients, x):
    return sum(c * x ** i for i, c in enumerate(coefficients))


def brown_forsythe(a, b):
    """p: the analysis of variance of the distances from the medians, of two samples."""
    sides = [[abs(v - statistics.median(side)) for v in side] for side in (a, b)]
    return one_way(sides)


def chi_upper(x, df):
    """The regularized upper incomplete gamma function at df / 2 and x / 2, by its series (Abramowitz and Stegun 6.5.29)."""
    a, x = df / 2, x / 2
    term = total = 1 / a
    for n in range(1, 2000):
        term *= x / (a + n)
        total += term
    return max(0.0, 1 - total * math.exp(a * math.log(x) - x - math.lgamma(a)))


def kruskal_wallis(groups):
    """p, of values without ties."""
    given, _ = ranks([v for group in groups for v in group])
    n, at, total = len(given), 0, 0.0
    for group in groups:
        total += sum(given[at:at + len(group)]) ** 2 / len(group)
        at += len(group)
    return chi_upper(12 / (n * (n + 1)) * total - 3 * (n + 1), len(groups) - 1)


def components(groups):
    """Variances between and within groups of one size: by REML, which is by mean squares, or pooled where the former were below 0."""
    size, k, grand = len(groups[0]), len(groups), statistics.fmean(v for group in groups for v in group)
    between = size * sum((statistics.fmean(group) - grand) ** 2 for group in groups) / (k - 1)
    within = statistics.fmean(map(statistics.variance, groups))
    if between >= within:
        return (between - within) / size, within
    return 0.0, ((k - 1) * between + k * (size - 1) * within) / (k * size - 1)


def one_way(groups):
    """p of the analysis of variance."""
    values = [v for group in groups for v in group]
    grand, within = statistics.fmean(values), sum(statistics.variance(g) * (len(g) - 1) for g in groups)
    between = sum(len(g) * (statistics.fmean(g) - grand) ** 2 for g in groups)
    df, df2 = len(groups) - 1, len(values) - len(groups)
    return f_upper(between / df / (within / df2), df, df2)


def holm(p_values):
    order, adjusted, largest = sorted(range(len(p_values)), key=p_values.__getitem__), [0.0] * len(p_values), 0.0
    for k, i in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - k) * p_values[i]))
        adjusted[i] = largest
    return adjusted


def median_bounds(values, level=0.95):
    """The median's exact interval: the tightest pair of order statistics that holds at least that level."""
    x, n, below = sorted(values), len(values), 0
    k = 0
    while 2 * sum(math.comb(n, i) for i in range(k + 1)) / 2 ** n <= 1 - level:
        k += 1
    return x[k - 1], x[n - k]
