"""Random 3-SAT in DIMACS form to stdout. At 4.26 clauses a variable an instance is hardest.

    satisfiability.py VARIABLES RATIO SEED
"""
import sys

from corpus import numbers

variables, ratio, seed = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
draw = numbers(seed * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF)
clauses = int(variables * ratio)
print(f"p cnf {variables} {clauses}")
for _ in range(clauses):
    chosen = []
    while len(chosen) < 3:
        variable = 1 + next(draw) % variables
        if variable not in chosen:
            chosen.append(variable)
    print(*(v if next(draw) & 1 else -v for v in chosen), 0)
