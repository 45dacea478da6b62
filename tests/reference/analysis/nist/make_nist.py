#!/usr/bin/env python3
"""Writes the NIST StRD analysis-of-variance sets (https://www.itl.nist.gov/div898/strd/anova/anova.html) as CSV.

SiRstv and AtmWtAg are the published observations. The nine SmLs sets follow Simon & Lesage (1989): nine
treatments with means 1.4, 1.3, 1.5, 1.3, 1.5, ... above a constant (0, 10^6, 10^12); each treatment holds its mean
once and then (n - 1) / 2 pairs of mean - 0.1 and mean + 0.1, n = 21, 201, 2001. They are made by the tests
themselves, since they are large; this script writes the two small ones. The certified values in nist_test.cc are NIST's;
that the rebuilt data give them to the last digit is what shows the data are right.
"""
SIRSTV = [
    [196.3052, 196.1240, 196.1890, 196.2569, 196.3403],
    [196.3042, 196.3825, 196.1669, 196.3257, 196.0422],
    [196.1303, 196.2005, 196.2889, 196.0343, 196.1811],
    [196.2795, 196.1748, 196.1494, 196.1485, 195.9885],
    [196.2119, 196.1051, 196.1850, 196.0052, 196.2090],
]
ATMWTAG = [
    [107.8681568, 107.8681465, 107.8681572, 107.8681785, 107.8681446, 107.8681903, 107.8681526, 107.8681494,
     107.8681616, 107.8681587, 107.8681519, 107.8681486, 107.8681419, 107.8681569, 107.8681508, 107.8681672,
     107.8681385, 107.8681518, 107.8681662, 107.8681424, 107.8681360, 107.8681333, 107.8681610, 107.8681477],
    [107.8681079, 107.8681344, 107.8681513, 107.8681197, 107.8681604, 107.8681385, 107.8681642, 107.8681365,
     107.8681151, 107.8681082, 107.8681517, 107.8681448, 107.8681198, 107.8681482, 107.8681334, 107.8681609,
     107.8681101, 107.8681512, 107.8681469, 107.8681360, 107.8681254, 107.8681261, 107.8681450, 107.8681368],
]


def write(name, groups, digits):
    with open(name, "w") as out:
        out.write("group,y\n")
        for number, group in enumerate(groups, 1):
            for value in group:
                out.write(f"{number},{value:.{digits}f}\n")


if __name__ == "__main__":
    write("sirstv.csv", SIRSTV, 4)
    write("atmwtag.csv", ATMWTAG, 7)
