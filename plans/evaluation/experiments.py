"""The experiments of the evaluation: what each is for, and everything of its plan above the programs."""

COUNTERS = """
[counters]
events = ["task-clock", "page-faults", "context-switches", "cycles", "instructions"]
"""

# name -> (what it is for, everything above [[program]], compiler and options of the build)
PLANS = {}

# Why a plan does without a preflight.
CHECKED_ANYWAY = "false           # each trial's output and dose are checked anyway"


def declare(name, question, build, *, seed, replicates, below, these="", runs_per_seed=1, response='["wall_time", "user_time"]',
            margin="1%", preflight="", sliced=""):
    """A plan whose [experiment] says this, and `below` all that follows; what `these` replicates are stands beside their number.
    sliced: the length of the slices, where blocks are sliced."""
    lines = ["[experiment]", f'name = "evaluation-{name}"', f"seed = {seed}"]
    lines.append(f"replicates = {replicates}".ljust(28) + f"# {these}" if these else f"replicates = {replicates}")
    if runs_per_seed > 1:
        lines.append(f"runs_per_seed = {runs_per_seed}")
    lines += [f"response = {response}", f'margin = "{margin}"']
    if sliced:
        lines += ['blocks = "sliced"', f'slice = "{sliced}"', 'alone = "0%"']
    if preflight:
        lines.append(f"preflight = {preflight}")
    PLANS[name] = question, "\n" + "\n".join(lines) + "\n" + below, build


# Factors of plain builds in seeded links beside szc's with everything on.
PLAIN_LINKS_AND_ALL = """cc = ["clang-19", "szc"]
code = ["off", "shuffle"]
stack = ["off", "on"]
heap = ["off", "page"]
epoch = ["5ms"]
link = { seeds = 10 }       # of the plain builds; one of them alone is what is usually measured
# Nothing but plain builds as they are, and szc's with everything on.
exclude = [
  { cc = "clang-19", code = "shuffle" }, { cc = "clang-19", stack = "on" }, { cc = "clang-19", heap = "page" },
  { cc = "szc", code = "off" }, { cc = "szc", stack = "off" }, { cc = "szc", heap = "off" },
]
"""

declare("normality", "Are times normal when layouts are drawn anew in a run, and when they are drawn once? The "
        "paper's Table 1.",
        "szc", seed=1, replicates=30, below="""
[factors]
code = ["once", "shuffle"]
stack = ["on"]
heap = ["page"]
epoch = ["8ms"]             # 50 layouts and more in the shortest run, of 0.5 s
""")

declare("overhead", "What does each randomization cost, what its mechanism alone? The paper's Figure 6.",
        "{cc}", seed=2, replicates=10, these="of cells that stay in place: ten links, each once", preflight=CHECKED_ANYWAY,
        below="""
[factors]
cc = ["clang-19", "szc"]    # the plain build and ours, both in seeded links
code = ["off", "copy", "shuffle"]
stack = ["off", "zero", "on"]
heap = ["off", "base", "page", "shuffle"]
epoch = ["500ms", "20ms"]
link = { seeds = 10 }
# Alone and cumulated (code, code and stack, all), not everything with everything.
exclude = [
  { cc = "clang-19", code = ["copy", "shuffle"] }, { cc = "clang-19", stack = ["zero", "on"] },
  { cc = "clang-19", heap = ["base", "page", "shuffle"] },
  { code = "off", stack = ["zero", "on"], heap = ["base", "page", "shuffle"] },
  { code = "copy", stack = ["zero", "on"] },
  { code = "copy", heap = ["base", "page", "shuffle"] },
  { code = "shuffle", stack = "zero" },
  { code = "shuffle", stack = "off", heap = ["base", "page", "shuffle"] },
  { code = "shuffle", heap = "base" },
  { code = "shuffle", stack = "on", heap = ["off", "shuffle"], epoch = "20ms" },
]
nested = [{ factor = "epoch", within = { code = ["shuffle"] } }]
""")

declare("optimization", "Does -O2 beat -O1, and -O3 -O2, once layout is no longer luck? The paper's Section 6.",
        "szc --opt={opt}", seed=3, replicates=30, below="""
[factors]
opt = ["-O1", "-O2", "-O3"]
code = ["shuffle"]
stack = ["on"]
heap = ["page"]
epoch = ["20ms"]
""")

declare("sensitivity", "How many trials does it take to see a function slowed down, by half a percent to two of the whole?",
        "{cc} --slow {slow}", seed=5, replicates=60, response='["wall_time", "task-clock"]', margin="0.5%", preflight="false",
        below="""
[factors]
slow = ["0", "0.5", "1", "2"]
""" + PLAIN_LINKS_AND_ALL)

declare("control", "Does a layout optimization show where the order of functions is kept (pad), and vanish where "
        "it isn't (shuffle)?",
        "szc --order {order}", seed=8, replicates=60, response='["wall_time", "task-clock"]', margin="0.5%", preflight="false",
        below="""
[factors]
# By a profile: the busy functions together, as far apart as can be, or all at the same places in pages.
order = ["source", "hot", "scattered", "colliding"]
code = ["pad", "shuffle"]
stack = ["on"]
heap = ["page"]
epoch = ["5ms"]
""")

declare("bias", """How far do the size of the environment and the order of linking move the mean, with and without
# randomization? Mytkowicz et al., ASPLOS 2009.""",
        "szc", seed=4, replicates=10, these="ten links, each once at each size", below="""
[machine]
knobs = { aslr = false }    # a stack that begins at random hides what the environment moves

[factors]
env_size = [0, 1024, 3072]
code = ["off", "shuffle"]
stack = ["off", "on"]
heap = ["off"]
epoch = ["20ms"]
link = { seeds = 10 }
# Everything where it is, or code and stack moving.
exclude = [{ code = "off", stack = "on" }, { code = "shuffle", stack = "off" }]
""")

declare("data", "How far does the order of data objects move the mean? Of data we randomize only stack and heap: "
        "what remains stays.",
        "szc --link-data={data}", seed=6, replicates=10, below="""
[factors]
data = [0, 1, 2, 3, 4]      # orders drawn by the linker; 0: as they come
code = ["off", "shuffle"]
stack = ["off", "on"]
heap = ["off", "page"]
epoch = ["20ms"]
# Everything off, or everything on.
exclude = [
  { code = "off", stack = "on" }, { code = "off", heap = "page" },
  { code = "shuffle", stack = "off" }, { code = "shuffle", heap = "off" },
]
""")

declare("ablation", "Which of the three randomizations do what? Each with and without each.",
        "szc", seed=9, replicates=10, these="ten links, each once", below="""
[factors]
code = ["off", "shuffle"]
stack = ["off", "on"]
heap = ["off", "page"]
epoch = ["20ms"]
link = { seeds = 10 }
""")

declare("dose", "How much randomization is enough? Epochs, the range of the stack's pads, and the two "
        "randomizers of the heap.",
        "szc", seed=7, replicates=10, below="""
[factors]
code = ["shuffle"]
stack = ["on"]
heap = ["page", "shuffle"]
epoch = ["500ms", "100ms", "20ms"]
stack_range = [4096, 256, 16]   # bytes; 16: no pad but 0, stacks still start at random
# Other ranges at one epoch and heap only.
exclude = [
  { stack_range = [256, 16], heap = "shuffle" }, { stack_range = [256, 16], epoch = ["500ms", "100ms"] },
]
""")

# Asked again in sliced blocks, where the machine's noise cancels: docs/evaluation/sliced.md says what was expected.

SLICED = '["cpu_time"]'

declare("sliced-turns", "What does a turn of the planted loops cost? A twentieth of this is the truth of sliced-sensitivity's 1 %.",
        "{cc} --slow {slow}", seed=21, replicates=30, response=SLICED, margin="0.5%", preflight="false", sliced="10ms", below="""
[factors]
slow = ["0", "20"]
cc = ["szc"]
code = ["shuffle"]
stack = ["on"]
heap = ["page"]
epoch = ["5ms"]
""")

declare("sliced-sensitivity", "How small a slowdown is seen in ten sliced blocks, and is it where the interval says?",
        "{cc} --slow {slow}", seed=18, replicates=100, these="ten experiments of ten blocks each", response=SLICED, margin="0.5%",
        preflight="false", sliced="10ms", below="""
[factors]
slow = ["0", "0.1", "0.25", "0.5", "1", "2"]
""" + PLAIN_LINKS_AND_ALL)

declare("sliced-control", "The control again: does a layout optimization show where the order of functions is kept, and vanish where "
        "it isn't?",
        "szc --order {order}", seed=19, replicates=30, response=SLICED, margin="0.5%", preflight="false", sliced="10ms", below="""
layouts = "independent"     # matched ones would give a function the same place in every order
[factors]
order = ["source", "hot", "scattered", "colliding"]
code = ["pad", "shuffle"]
stack = ["on"]
heap = ["page"]
epoch = ["5ms"]
""")

def plain_off_and_all(links):
    """Factors of plain builds, szc's with everything off, and szc's with everything on, each in so many seeded links."""
    return f"""
[factors]
cc = ["clang-19", "szc"]
code = ["off", "shuffle"]
stack = ["off", "on"]
heap = ["off", "page"]
epoch = ["10ms"]
link = {{ seeds = {links} }}
# Plain, szc with everything off, and everything on.
exclude = [
  {{ cc = "clang-19", code = "shuffle" }}, {{ cc = "clang-19", stack = "on" }}, {{ cc = "clang-19", heap = "page" }},
  {{ code = "off", stack = "on" }}, {{ code = "off", heap = "page" }},
  {{ code = "shuffle", stack = "off" }}, {{ code = "shuffle", heap = "off" }},
]
"""


declare("sliced-overhead", "What does everything cost at the dose at which verdicts are promised, to within half a point?",
        "{cc}", seed=20, replicates=20, these="twenty links, each once", response=SLICED, preflight=CHECKED_ANYWAY, sliced="3ms",
        below=plain_off_and_all(20))

declare("sliced-libraries", "What does everything cost where all code of a program is in a shared library?",
        "{cc} --library", seed=27, replicates=12, these="twelve links, each once", response=SLICED, preflight=CHECKED_ANYWAY, sliced="3ms",
        below=plain_off_and_all(12))

def plain_and_all_by_epoch(links):
    """Factors of plain builds and of szc's with everything on at five epochs, each in so many seeded links."""
    return f"""
[factors]
cc = ["clang-19", "szc"]
code = ["off", "shuffle"]
stack = ["off", "on"]
heap = ["off", "page"]
epoch = ["500ms", "100ms", "20ms", "10ms", "5ms"]
link = {{ seeds = {links} }}
# Plain, and everything on at each epoch.
exclude = [
  {{ cc = "clang-19", code = "shuffle" }}, {{ cc = "clang-19", stack = "on" }}, {{ cc = "clang-19", heap = "page" }},
  {{ cc = "szc", code = "off" }}, {{ cc = "szc", stack = "off" }}, {{ cc = "szc", heap = "off" }},
]
nested = [{{ factor = "epoch", within = {{ code = ["shuffle"] }} }}]
"""


declare("sliced-doses", "What does everything cost at epochs from half a second, the paper's, to 5 ms?",
        "{cc}", seed=31, replicates=12, these="twelve links, each once", response=SLICED, preflight=CHECKED_ANYWAY, sliced="3ms",
        below=plain_and_all_by_epoch(12))

declare("sliced-lld", "What does everything cost the linker lld, at epochs from half a second to 5 ms?",
        "{cc}", seed=34, replicates=40, these="forty links, each once", response=SLICED, preflight=CHECKED_ANYWAY, sliced="3ms",
        below=plain_and_all_by_epoch(40))

declare("sliced-lld-more", "What does everything cost the linker lld, to within half a point?",
        "{cc}", seed=35, replicates=160, these="160 links, each once", response=SLICED, preflight=CHECKED_ANYWAY, sliced="3ms",
        below=plain_and_all_by_epoch(160))

declare("sliced-normality", "How does a run's time go to normal with its number of layouts, where slicing takes the machine's noise out? "
        "The paper's Table 1.",
        "szc --link=1", seed=32, replicates=48, response=SLICED, preflight=CHECKED_ANYWAY, sliced="3ms", below="""
layouts = "independent"     # each cell's runs draw layouts of their own
[factors]
code = ["off", "shuffle"]
stack = ["off", "on"]
heap = ["off", "page"]
epoch = ["1h", "50ms", "10ms"]   # one layout in a run, some five, some twenty-five
# Nothing moves, twice, which shows the noise that slicing leaves; and everything, at each epoch.
exclude = [
  { code = "off", stack = "on" }, { code = "off", heap = "page" }, { code = "off", epoch = "10ms" },
  { code = "shuffle", stack = "off" }, { code = "shuffle", heap = "off" },
]
""")

declare("sliced-factors", "Which factor costs it, in the programs that sliced-overhead has found to cost 5 % and more?",
        "szc --link=1", seed=24, replicates=12, response=SLICED, preflight=CHECKED_ANYWAY, sliced="3ms", below="""
[factors]
code = ["off", "shuffle"]
stack = ["off", "on"]
heap = ["off", "base", "page"]   # base: our heap, and nothing drawn
epoch = ["10ms"]
# Nothing, one factor each, and everything.
exclude = [
  { code = "shuffle", stack = "off", heap = "page" }, { code = "off", stack = "on", heap = "page" },
  { code = "shuffle", stack = "on", heap = "off" }, { heap = "base", code = "shuffle" }, { heap = "base", stack = "on" },
]
""")

declare("sliced-levels", "What do -O1 and -O3 do beside -O2, to within a third of a percent in each workload? The paper's Section 6.",
        "szc --opt={opt}", seed=22, replicates=24, response=SLICED, margin="0.5%", preflight=CHECKED_ANYWAY, sliced="3ms", below="""
[factors]
# The second -O2 is the same program: what differs there is noise.
opt = ["-O1", "-O2", { name = "again", value = "-O2" }, "-O3"]
code = ["shuffle"]
stack = ["on"]
heap = ["page"]
epoch = ["10ms"]
""")

declare("sliced-optimizers", "What do ThinLTO, a profile (PGO) and both do to -O2, to within a third of a percent in each workload?",
        'szc --opt="-O2 {lto}" {pgo}', seed=33, replicates=16, response=SLICED, margin="0.5%", preflight=CHECKED_ANYWAY, sliced="3ms", below="""
[factors]
lto = [{ name = "off", value = "" }, { name = "thin", value = "-flto=thin" }]
pgo = [{ name = "off", value = "" }, { name = "on", value = "--pgo" }]
code = ["shuffle"]
stack = ["on"]
heap = ["page"]
epoch = ["10ms"]
""")

# The programs of the small versions, and how their short runs become a third as long, some five epochs of 20 ms: what is tried
# there is the way from plan to table, once for each trial of hundreds.
SMALL = {"lua": (r'"words.lua", "17"', '"words.lua", "6"'),
         "bzip2": (r'cp ("[^"]*/bzip2/inputs/short") \.', r"head -c 600000 \1 > short")}


def knowing(name, what, options):
    """The optimization plan again, -O3 against -O2 only, with an optimizer that knows more."""
    head = PLANS["optimization"][1].replace('name = "evaluation-optimization"', f'name = "evaluation-{name}"')
    return f"Does -O3 beat -O2 where the optimizer knows {what}?", head.replace('"-O1", ', ""), options


PLANS["pgo"] = knowing("pgo", "what a run did (PGO)", "szc --opt={opt} --pgo")
PLANS["lto"] = knowing("lto", "the whole program (ThinLTO)", 'szc --opt="{opt} -flto=thin"')

declare("overhead-main", "What do code, stack and everything cost? The main cells of the overhead plan, in half the time.",
        "{cc}", seed=10, replicates=10, these="ten links, each once", preflight=CHECKED_ANYWAY, below="""
[factors]
cc = ["clang-19", "szc"]
code = ["off", "shuffle"]
stack = ["off", "zero", "on"]
heap = ["off", "page"]
epoch = ["500ms", "20ms"]
link = { seeds = 10 }
exclude = [
  { cc = "clang-19", code = "shuffle" }, { cc = "clang-19", stack = ["zero", "on"] }, { cc = "clang-19", heap = "page" },
  { code = "off", heap = "page" }, { stack = "zero", code = "shuffle" },
  { code = "shuffle", stack = "off", heap = "page" }, { code = "shuffle", stack = "on", heap = "off" },
  { stack = "on", code = "shuffle", epoch = "20ms" },
]
nested = [{ factor = "epoch", within = { code = ["shuffle"] } }]
""")

declare("overhead-dose", "What does it cost at the dose at which verdicts are promised: 30 layouts and more in a run?",
        "{cc}", seed=15, replicates=10, these="ten links, each once", preflight=CHECKED_ANYWAY, below="""
[factors]
cc = ["clang-19", "szc"]
code = ["off", "shuffle"]
stack = ["off", "on"]
heap = ["off", "page"]
epoch = ["500ms", "10ms"]   # 30 layouts and more in the shortest run, of 0.4 s, at 10 ms
link = { seeds = 10 }
exclude = [
  { cc = "clang-19", code = "shuffle" }, { cc = "clang-19", stack = "on" }, { cc = "clang-19", heap = "page" },
  { cc = "szc", code = "off" }, { stack = "off", heap = "page" }, { code = "shuffle", stack = "on", heap = "off" },
  { code = "shuffle", stack = "off", epoch = "500ms" },
]
nested = [{ factor = "epoch", within = { code = ["shuffle"] } }]
""")

declare("layout-share", "How much of the variance of a run is the place of its code? One layout a run, each run three times.",
        "szc", seed=16, replicates=40,
        these="layouts of `once`; blocks of `off`, whose layout is one and the same: "
        "what the machine does between blocks", runs_per_seed=3, preflight=CHECKED_ANYWAY, below="""
[factors]
code = ["off", "once"]
stack = ["off"]
heap = ["off"]
""")

# flang 19 neither instruments for a profile nor uses one, and lld breaks down on its output for ThinLTO; tcl's configuration
# finds that it needs no -lm, because ThinLTO has dropped the call from the program that tries. Its main is hidden, so that no program can be
# linked from its library alone.
COMPILED = {"sliced-libraries": lambda program: program.name != "tcl",
            "sliced-factors": lambda program: program.name in ("sqlite3", "gnugo", "cadical", "perl"),
            "pgo": lambda program: program.language != "fortran",
            "lto": lambda program: program.language != "fortran" and program.name != "tcl",
            "sliced-optimizers": lambda program: program.language != "fortran" and program.name != "tcl"}

# Plans on the short runs of some programs; all others take every run of every program that can be compiled for them.
CHOSEN = {"sensitivity": lambda program: program.slowed, "control": lambda program: program.name in ("sqlite3", "gnugo", "perl", "tcl"),
          "sliced-sensitivity": lambda program: program.slowed, "sliced-turns": lambda program: program.slowed,
          "sliced-control": lambda program: program.name in ("sqlite3", "gnugo", "perl", "tcl", "lua", "minisat", "x264", "cadical"),
          "sliced-normality": lambda program: program.short, "layout-share": lambda program: program.short}

# Plans of one program, which is in no other: its source is large.
ALONE = {"sliced-lld": "lld", "sliced-lld-more": "lld"}

# Where a program finds its library when it isn't run from its source tree.
ENVIRONMENT = {"tcl": {"TCL_LIBRARY": "/usr/share/tcltk/tcl8.6"}}
