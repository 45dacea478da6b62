"""The programs of make_cases.py: plain C whose functions are moved by fillers until they lie as wanted. Each build is looked at.

A program consists of parts that take time and fillers that move them:

  chain    three loops bound by latency: their place makes no difference. A change of code is a change of their count
  loop     `wide`, a short loop of one of LOOPS. Where it crosses a line of 64 bytes it takes longer
  lines    `left` and `right`, which jump through seven lines of the instruction cache each. Where both want the same lines of a
           cache of eight ways, they take longer; neither does by itself
  called   a loop that calls a function in each iteration; `inlined` has the function inlined
  virtual  a loop of C++ that calls a virtual function of a template's in each iteration, which does what chains do

wide's loop must begin 32 (fast) or 48 bytes (slow) behind a multiple of 64, and left and right must share their lines or not."""
import re
import subprocess

HEAD = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef unsigned long word;
#define KEEP(x) __asm__ volatile("" : "+r"(x))
#define NOINLINE __attribute__((noinline))
"""


def statements_of(count):
    return "".join(f"  x = x * {2654435761 + 2 * i}u + (x >> {3 + i % 11});\n" for i in range(count))


def unrelated(name, statements, how="NOINLINE"):
    """A function that is called once at most, and as long as it has statements."""
    return f"\n{how} word {name}(word x) {{\n{statements_of(statements)}  return x;\n}}\n"


OTHER_HEAD = "typedef unsigned long word;\n#define NOINLINE __attribute__((noinline))\n"

# Which one minds its place is the processor's affair: on AMD's family 25 independent additions, on family 26 many short instructions.
LOOPS = {"additions": """
NOINLINE word {name}(word n, word x) {{
  word a = 1, b = 2, c = 3, d = 4;
  do {{
    a += n; KEEP(a);
    b ^= n; KEEP(b);
    c += 5; KEEP(c);
    d ^= 9; KEEP(d);
    x += n; KEEP(x);
  }} while (--n);
  return a + b + c + d + x;
}}
""", "nops": """
NOINLINE word {name}(word n, word x) {{
  do {{
    __asm__ volatile(".rept 14; nop; .endr");
  }} while (--n);
  return x;
}}
"""}

CHAIN_LOOP = "  do {{ x = (x ^ (x >> 7)) * {factor}u + n; }} while (--n);\n"
CHAIN = "\nNOINLINE word {name}(word n, word x) {{\n" + CHAIN_LOOP + "  return x;\n}}\n"

# Where it is longer it does more of what chains do, too.
GROWING = "\nNOINLINE word grows(word n, word m, word x) {\n" + CHAIN_LOOP.format(factor=40503) + "%s  return x + m;\n}\n"


def grown(statements):
    return GROWING % ("  n = m;\n" + CHAIN_LOOP.format(factor=2654435769) + statements_of(statements))


# Seven jumps, each at the same place of another page. The linker's relaxation leaves them five bytes long.
LINES = """
NOINLINE {how} void {name}(void) {{ __asm__ volatile(".rept 7\\n jmp 1f\\n .skip 4091, 0xcc\\n 1:\\n .endr{tail}"); }}
"""
# With it a function is as much longer as lets the same lines come again soon behind it. Its end lies on lines of its own.
TAIL = "\\n jmp 2f\\n .skip 3835, 0xcc\\n 2:"


# Calls them, and lies before all that moves.
BOTH = """
void left(void);
void right(void);
NOINLINE void both(word n) {
  do { left(); right(); } while (--n);
}
"""
CALL_LINES = "both(#);"
# Those that are moved, the last one where it is one.
FUNCTIONS = {"loop": ["wide"], "lines": ["left", "right"], "pair of loop": ["wide", "wide2"], "pair of lines": ["left", "right"]}

# What is called has to divide; where it is inlined the divisor is known, and it multiplies. Both are bound by latency.
CALLED = """
{how} word mix(word x, word by) {{ return x / by + (x << 40) + 12345; }}
NOINLINE word mixes(word n, word x) {{
  do {{ x = mix(x, 10); }} while (--n);
  return x;
}}
"""
HOW = {"called": "NOINLINE", "inlined": "static inline __attribute__((always_inline))"}

# Of C++. `wide` is a virtual function there, Wide::run.
SHAPES = """
struct Shape { virtual word run(word n, word x) = 0; };
struct Wide : Shape { word run(word n, word x) override; };
template <word Factor> struct Step : Shape { word run(word n, word x) override; };
template <word Factor> NOINLINE word Step<Factor>::run(word n, word x) {
  for (int i = 0; i < 4; ++i) x = (x ^ (x >> 7)) * Factor + n;
  return x;
}
"""
# What is called behind all that moves.
TURNS_OF = """
static Wide wide;
static Step<2654435761> step0;
static Step<2654435765> step1;
static Step<2654435769> step2;
static Shape* const shapes[] = {&wide, &step0, &step1, &step2};
NOINLINE Shape* shape_at(int i) {
  Shape* shape = shapes[i];
  KEEP(shape);
  return shape;
}
NOINLINE word turns_of(Shape* shape, word n, word x) {
  do { x = shape->run(n, x); } while (--n);
  return x;
}
"""
# What the linker calls such functions, and we.
WIDE_OF_CPLUSPLUS = "_ZN4Wide3runEmm"
CALLED_HERE = {WIDE_OF_CPLUSPLUS: "wide"}

# How often the chains run, by a constant of whose address alone the instructions know: numbers of the three chains, and one more
# that nothing depends on.
CONSTANTS = {
    "constant": """
NOINLINE word turns(int i) {{
  const word all[] = {{{0}, {1}, {2}, {3}}};
  const word* p = all;
  KEEP(p);
  return p[i];
}}
""",
    "string": """
NOINLINE word turns(int i) {{
  const char* text = "{0} {1} {2} {3}";
  KEEP(text);
  char* end = (char*)text;
  word n = 0;
  for (; i >= 0; --i) n = strtoul(end, &end, 10);
  return n;
}}
""",
    "table": """
static const word all_turns[] = {{{0}, {1}, {2}, {3}}};
NOINLINE word turns(int i) {{
  const word* p = all_turns;
  KEEP(p);
  return p[i];
}}
"""}
# The same of a shared library's, with the chains.
LIBRARY = OTHER_HEAD + """word aside(word x);
word aside(word x) {{ return x ^ {3}u; }}
word work(word x);
word work(word x) {{
{lines}  return x;
}}
"""


class Turns:
    """The numbers of one of CONSTANTS, as source."""

    def __init__(self, kind, counts):
        self.kind, self.counts = kind, counts

    def __str__(self):
        return CONSTANTS[self.kind].format(*self.counts)


ROUNDS = 50  # of the main loop
FAST, SLOW = 32, 48  # where wide's loop begins, modulo 64
def lines_function(name, tail="", how=""):
    return LINES.format(name=name, tail=tail, how=how)


def labelled(length):
    """A function that copies a string of so many times eight characters, by instructions for each sixteen."""
    return f'\nNOINLINE void label(char* out) {{ strcpy(out, "{"x" * 8 * length}"); }}\n'


class NotMade(Exception):
    """What was drawn can't be had."""


class Filler:
    """A piece of source whose length is found for each build."""

    def __init__(self, make, length):
        self.make, self.length = make, length

    def __str__(self):
        return self.make(self.length)


def filler(name, length, how="NOINLINE"):
    return Filler(lambda statements: unrelated(name, statements, how), length)


class Side:
    """One build. `hot`: pieces of the functions that take time; `lines`: calls of them, in a round; `work`: what they do."""

    def __init__(self, draw):
        self.flags = ["-O2"]
        self.header = []
        self.unrelated = filler("unrelated", draw.randrange(2, 12))
        self.label = Filler(labelled, draw.randrange(1, 4))
        self.other = filler("other", draw.randrange(2, 12))
        self.is_other_first = False
        self.more = []
        self.first = []  # of a file of its own, linked before all others
        self.hot, self.lines, self.work = [], [], {}
        self.library = None  # source of a shared library of its own, in pieces; it has `work`
        self.is_cplusplus = self.has_threads = False  # a second thread does half of the rounds
        self.compiled = {}  # by object what it was made of

    def add(self, part, count, pieces, *lines):
        """`lines` with the part's count of a round for '#'; of a third of it for '%'."""
        self.work[part] = self.work.get(part, 0) + count
        self.hot += pieces
        each = max(1, count // ROUNDS)
        self.lines += [line.replace("#", str(each)).replace("%", str(max(1, each // 3))) for line in lines]

    def main_file(self):
        body = "".join(f"    {line}\n" for line in self.lines)
        if self.is_cplusplus:
            return [HEAD, '#include "shape.h"\nextern "C" {\nword other(word x);\nvoid both(word n);\n}\n', *self.more, self.unrelated,
                    self.label, *self.hot, *self.main_of(body)]
        return [HEAD, '#include "shape.h"\nword other(word x);\nvoid both(word n);\nword work(word x);\n', *self.more,
                self.unrelated, self.label, *self.hot, *self.main_of(body)]

    def main_of(self, body):
        rounds = f"  for (int i = 0; i < {ROUNDS}; ++i) {{\n{body}  }}\n"
        if self.has_threads:
            half = rounds.replace(f"i < {ROUNDS}", f"i < {ROUNDS // 2}")
            yield f"\nstatic void* half_of_rounds(void* given) {{\n  word x = *(word*)given;\n{half}  *(word*)given = x;\n  return 0;\n}}\n"
            rounds = ("  pthread_t second;\n  word y = x + 1;\n  if (pthread_create(&second, 0, half_of_rounds, &y) != 0) return 1;\n"
                      "  half_of_rounds(&x);\n  if (pthread_join(second, 0) != 0) return 1;\n  x += y;\n")
        yield ("\nint main(int count, char** words) {\n  char text[256];\n"
               "  word x = (word)count + (word)atol(words[1]);\n"
               f"  label(text);\n  x += unrelated(x) + other(x);\n{rounds}"
               '  printf("%d %.1s\\n", (int)(x & 1), text);\n  return 0;\n}\n')

    def build(self, szc, path, more=()):
        sources = path.parent / f"{path.name}-source"
        sources.mkdir(exist_ok=True)
        main = "main.cc" if self.is_cplusplus else "main.c"
        texts = {main: self.main_file(), "other.c": [OTHER_HEAD, self.other], "first.c": [OTHER_HEAD, *self.first]}
        (sources / "shape.h").write_text("".join(map(str, self.header)))
        files = ["other.c", main] if self.is_other_first else [main, "other.c"]
        objects = [self.compile(szc, sources / name, "".join(map(str, texts[name])), more)
                   for name in (["first.c"] if self.first else []) + files]
        linker = f"{szc}++" if self.is_cplusplus else szc
        subprocess.run([linker, *self.flags, *more, *objects, *self.linked_library(szc, path, sources), "-o", str(path)], check=True)

    def linked_library(self, szc, path, sources):
        """What links it, in a folder beside the program, where the program finds it."""
        if self.library is None:
            return []
        folder = library_of(path).parent
        folder.mkdir(exist_ok=True)
        (sources / "work.c").write_text("".join(map(str, self.library)))
        made = ["-fPIC", "-shared", str(sources / "work.c"), "-o", str(folder / "libwork.so")]
        subprocess.run([szc, *self.flags, *made], check=True)
        return [f"-L{folder}", "-lwork", f"-Wl,-rpath,$ORIGIN/{folder.name}"]

    def compile(self, szc, source, text, more):
        """The object of a file, compiled where the last one was of another text."""
        made = source.with_suffix(".o")
        key = [text, "".join(map(str, self.header)), *self.flags, *more]
        if self.compiled.get(made) != key:
            source.write_text(text)
            compiler = f"{szc}++" if source.suffix == ".cc" else szc
            subprocess.run([compiler, *self.flags, *more, "-c", str(source), "-o", str(made)], check=True)
            self.compiled[made] = key
        return str(made)


def addresses(path):
    names = subprocess.run(["nm", str(path)], check=True, capture_output=True, text=True).stdout
    return {CALLED_HERE.get(name, name): int(address, 16) for address, name in re.findall(r"^([0-9a-f]+) [tT] (\w+)$", names, re.M)}


def library_of(path):
    """The shared library of a program's own."""
    return path.parent / f"{path.name}-libraries" / "libwork.so"


def loop_place(path, name="wide"):
    """Where the loop of a function begins, modulo 64: what its one backward jump leads to."""
    symbols = [name, *(symbol for symbol, called in CALLED_HERE.items() if called == name)]
    code = "".join(subprocess.run(["objdump", "-d", "--no-show-raw-insn", f"--disassemble={symbol}", str(path)], check=True,
                                  capture_output=True, text=True).stdout for symbol in symbols)
    jumps = re.findall(r"^ *([0-9a-f]+):\tj\w+ +([0-9a-f]+) ", code, re.M)
    back = [int(to, 16) for at, to in jumps if int(to, 16) < int(at, 16)]
    if len(back) != 1:
        raise NotMade(f"{path}: '{name}' has {len(back)} backward jumps: expected one")
    return back[0] % 64


def lines_places(path):
    """The lines of the cache that left and right begin in."""
    at = addresses(path)
    return tuple(at[name] % 4096 // 64 for name in ("left", "right"))


def fit(szc, path, side, knob, is_right, what):
    """Builds the side with the next length of this filler that puts things where they are wanted."""
    for _ in range(24):
        side.build(szc, path)
        if is_right(path):
            return
        knob.length += 1
    raise NotMade(f"{path}: no length of the filler {what}")


def is_placed(part, path, is_slow, is_old):
    """Whether the part lies as it should. Lines that are apart: right's are just before left's in the old build, so that a longer
    filler can bring them together, and anywhere else in the new one."""
    if part == "loop":
        return loop_place(path) == (SLOW if is_slow else FAST)
    left, right = lines_places(path)
    if is_slow:
        return left == right
    return right == (left - 1) % 64 if is_old else left != right


# How the new build's functions are moved: each returns the filler whose length says how far.

def longer_function(new, draw):
    new.unrelated.length += draw.randrange(1, 9)
    return new.unrelated


def another_function(new, draw):
    more = filler("another", draw.randrange(1, 9), "__attribute__((noinline, used))")
    new.more.append(more)
    return more


def longer_string(new, draw):
    new.label.length += draw.randrange(1, 3)
    return new.label


def longer_header(new, draw):
    more = filler("perimeter", draw.randrange(1, 9), "extern inline __attribute__((noinline))")
    new.header.append(more)
    return more


def other_link_order(new, draw):
    new.is_other_first = True
    return new.other


MOVES = {"function": longer_function, "another": another_function, "string": longer_string, "header": longer_header,
         "link": other_link_order}


def fit_lines(szc, path, side, wanted_same, forbidden):
    """Puts left and right, with a filler between them, on the same lines, or on lines that are not, none of them forbidden."""
    between = side.hot[1]
    for _ in range(12):
        for _ in range(12):
            side.build(szc, path)
            left, right = lines_places(path)
            if (left == right) == wanted_same and not forbidden & {left, right}:
                return
            between.length += 1
        between.length -= 12
        side.unrelated.length += 1
    raise NotMade(f"{path}: no lengths of the fillers put 'left' and 'right' on {'the same' if wanted_same else 'other'} lines")
