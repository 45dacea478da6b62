"""One-way analysis of variance, for the residual bias of heaps: no library needed beside a heap under test."""


def analysis_of_variance(groups):
    """F, degrees of freedom, and the share of the variance that lies between groups (eta squared)."""
    n = sum(map(len, groups))
    grand = sum(map(sum, groups)) / n
    means = [sum(group) / len(group) for group in groups]
    between = sum(len(group) * (mean - grand) ** 2 for group, mean in zip(groups, means))
    within = sum((value - mean) ** 2 for group, mean in zip(groups, means) for value in group)
    df = len(groups) - 1, n - len(groups)
    if between == 0:
        return 0.0, df, 0.0
    if within == 0:
        return float("inf"), df, 1.0
    return (between / df[0]) / (within / df[1]), df, between / (between + within)


def critical_value(alpha, df1, df2):
    """Of F, by bisection on the incomplete beta function (continued fraction, Numerical Recipes 6.4)."""
    from math import exp, lgamma, log

    def beta_fraction(a, b, x):
        tiny, c, d = 1e-300, 1.0, 1 - (a + b) * x / (a + 1)
        d = 1 / (d or tiny)
        h = d
        for m in range(1, 500):
            for step in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
                d = 1 / ((1 + step * d) or tiny)
                c = (1 + step / c) or tiny
                h *= d * c
        return h

    def incomplete_beta(a, b, x):
        front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(1 - x))
        if x < (a + 1) / (a + b + 2):
            return front * beta_fraction(a, b, x) / a
        return 1 - front * beta_fraction(b, a, 1 - x) / b

    low, high = 0.0, 1000.0
    for _ in range(100):
        middle = (low + high) / 2
        tail = incomplete_beta(df2 / 2, df1 / 2, df2 / (df2 + df1 * middle))
        low, high = (middle, high) if tail > alpha else (low, middle)
    return high
