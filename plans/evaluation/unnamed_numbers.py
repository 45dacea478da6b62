"""Numbers of README.md and the evaluation's pages that have no name and are in no table of their page: (the words that hold them, why).
A reason is that the number isn't a measurement of the recorded trials, or is one of trials that aren't kept."""

SPENT = "how long trials took on the day, not a result; kept in the log of that run"
PILOT = "of runs that were replaced or never were part of the plans; their trials aren't kept"
PAPER = "the paper's or its data's, not ours"
MACHINE = "the machine's own unrest, looked into once while trials ran; orientation for a reader, nothing rests on it"
KEPT = "computed from the kept answers of docs/evaluation/data/explain, which no table has as such"
ANSWERED = "computed from the kept answers of docs/evaluation/data/compare, which no table has as such"
BEFORE = "what a table had said before its code was corrected, as its text says"
LOOKED_AT = "of forty trials that were looked at once, as its text says; they aren't kept"
BY_HAND = "seen by the command above it; nothing of it is kept"
LEVEL = "a level, an aim or a size that was chosen, not measured"

UNNAMED = {
    "README.md": [
        ("which difference matters, by default 1 %", LEVEL), ("asked a test, at 5 %", LEVEL), ("raise an alarm, where 5 % are promised", LEVEL), ("found a planted 1 % in", LEVEL)],
    "evaluation.md": [
        ("A t-test at 5 % calls", LEVEL),
        ("A planted slowdown of 1 % is", LEVEL), ("A planted 1 % is found", LEVEL), ("Planted slowdowns of 0.1 to 2 % in", LEVEL),
        ("To find 1 % ten blocks of a run of 0.2 s are", LEVEL), ("At most 2 and 5 % had been declared", LEVEL),
        ("takes 1.16 s where it is a workload's own", SPENT),
        ("0.25 s where it is a short run", SPENT),
    ],
    "aa.md": [
        ("layouts, less than 85 % of what", LEVEL),
        ("25 to 39 % of spread in wall time", PILOT),
        ("loop of integers took 0.08 s or 0.14 s, by turns", MACHINE),
    ],
    "atlas.md": [
        ("with its margin of 1 %", LEVEL), ("Clopper and Pearson's, at 95 %", LEVEL), ("*both* is above 5 % with its whole", LEVEL),
        ("refuted if it is below 5 % with", LEVEL), ("executed instructions by 1 % or more", LEVEL), ("the share is at least 90 %", LEVEL),
        ("75 %, refuted if its interval lies below 90 %", LEVEL), ("instructions by less than 0.1 %", LEVEL),
    ],
    "histories.md": [
        ("makes the program 2 % slower; one 3 %; one makes it 4 %", LEVEL), ("a later one 2 % faster", LEVEL), ("to the last: margin 1 %", LEVEL),
        ("wall times does at 5 %", LEVEL),
    ],
    "bias.md": [
        ("the 300 % that the 2013 paper quotes for environments, and its own 57 % for links", PAPER),
    ],
    "data-order.md": [
        ("trials of a cell spread by 2 to 20 %, half of the cells by more than 6 %", MACHINE),
    ],
    "dose.md": [
        ("p = 0.016 and 0.019) and `shuffle` in tcl alone", PILOT),
    ],
    "explain-cases.md": [
        ("takes some 0.12 s of CPU time", LEVEL), ("seeds 11 and 21 to 24", "seeds"), ("planned as 2, 4 or 6 %", LEVEL),
        ("a place of 1 % (the margin)", LEVEL), ("code of 0.45 % or more", LEVEL), ("intervals at 95 %", LEVEL),
        ("at most 5 % of all answers", LEVEL), ("at most 2 % of all cases", LEVEL), ("at least 80 % have", LEVEL),
        ("difference of code is 2.07 % in the median", KEPT), ("it is 0.50 % on the two cores", KEPT),
        ("3 to 27, 10 in the median", KEPT),
        ("1 of 126 answers was wrong", KEPT), ("71 of 72 places had", KEPT), ("by a place of 2 % for both", KEPT),
        ("once it is sure at 0.5 %", LEVEL), ("spread by some 3 % within a block", MACHINE),
        ("+0.04 to +1.76 %", KEPT), ("+0.02 to +0.53 %", KEPT), ("1 to 21, 10 in the median", KEPT), ("err with 2.5 %", LEVEL),
        ("−0.74 to −0.02 % and 0.00 to +0.50 %", KEPT), ("+1.71 %, where a string", KEPT), ("by 1.84 %", KEPT),
        ("a place of −0.68 %", KEPT), ("The load average was 7 to 14", KEPT), ("A string makes 3 % more work", LEVEL),
        ("with a place of −0.73 % [−1.06, −0.40]", KEPT), ("the load average was 8 to 13 whenever", KEPT),
        ("A string makes 0.5 % more work", LEVEL), ("the code differs by +0.17 % [−0.19, +0.53]", KEPT),
    ],
    "compare.md": [("0.05 to 0.2 s a run", LEVEL), ("247 *same within 1 %*", ANSWERED), ("Its interval lies below 5 %, which", LEVEL), ("138 were called *same within 1 %*", ANSWERED), ("The interval holds 5 %", LEVEL), ("may be given in 5 % of cases", LEVEL), ("A planted 1 % is found in 37 of 40 programs", ANSWERED),
                   ("a planted 0.25 % in 12 of 12", ANSWERED), ("called *same within 1 %*, with estimates of +0.38 to +0.43 %", ANSWERED)],
    "explain-real.md": [("they agree in 43 of 56", KEPT), ("without one, and in 2 of 42 with one", KEPT),
                        ("a margin of 1 % and ten minutes", LEVEL), ("load average was 9 to 21. The time", KEPT),
                        ("after 60 % of their ten minutes", LEVEL), ("`luaV_execute` (+2.55 %)", KEPT),
                        ("has +0.77 % for the place; this one has +1.11 %", KEPT), ("**, +27.9 %: `quantum_toffoli` (+19.4 %)", KEPT),
                        ("`quantum_cnot` (+5.0 %)", KEPT), ("code is 1.47 % slower", KEPT), ("executes 1.54 % more", KEPT),
                        ("executes 0.04 % fewer instructions and costs 0.41 % less there, with 0.4 % more misses", KEPT),
                        ("misses 4.4 % more often", KEPT), ("misses 14 % more often", KEPT), ("with 6.9 % more such", KEPT),
                        ("load average was 1 to 7", KEPT), ("Slices were 10 to 30 ms long", KEPT),
                        ("lua's first change (−0.49 and +0.35 %)", KEPT), ("libquantum's (+30.20 and +27.81 %)", KEPT)],
    "sliced.md": [
        ("where a test at 5 % promises", LEVEL), ("randomized share holds 5 %, and that", LEVEL),
        ("Each test is two-sided at 5 % unless", LEVEL), ("20 % and with other seeds; 1 % of that", LEVEL),
        ("S1 had 284 of 300, S2 18 of 60, and S3 253 of 300", BEFORE),
        ("They were 20,196 to 24,734 with random heaps", BY_HAND),
        ("61 % of 1,859 samples lay in the program's own code, 14 % in LLVM's shared library, 8 % in libc and 17 % in the", PILOT),
        ("moving perl's code costs 7.7 ± 1.6 % instead of 12.7 ± 1.5 %", LOOKED_AT),
    ],
    "machines.md": [
        ("about one trial in 20 to 30 (in the disturbed", MACHINE),
        ("it is 2 to 5 % faster or slower", MACHINE),
        ("(sd 2.5 to 17 % a cell, not shown", PILOT),
        ("their median CPU time was 0.3 to 6 % longer", PILOT),
        ("was 0.2 to 3.9 %, and 1.3 to 5.1 % alone", PILOT),
        ("2 to 4 % of a trial, 17 to 20 % in the last two blocks", PILOT),
        ("on which a trial takes 0.77 s", SPENT),
        ("trials of one cell spread by 13 to 17 %", MACHINE),
        ("wall times of one program spread by 30 %", PILOT),
        ("Trials of one cell spread by 3 to 29 %", MACHINE),
        ("control on CPU 3 with compilations on 0 to 2", "numbers of CPUs"),
    ],
    "normality.md": [
        ("p about 0.07, of 1,000 times", 'of random swaps, which take minutes; with second_way.shapiro_wilk, 2026-11-21'),
    ],
    "simulated.md": [
        ("Shapiro-Wilk's test at 5 % doesn't reject", LEVEL), ("by less than 10 % from k = 1", LEVEL),
    ],
    "optimization.md": [
        ("p = 0.0898 (F(1, 17) = 3.235) and p = 0.264 (F = 1.335)", PAPER),
    ],
}
