"""Objects for a linker: start.o, and library.a with OBJECTS members, compiled by clang-19 from C++ that is drawn here.

    objects.py OBJECTS FUNCTIONS SEED

A member has so many functions, each in a section of its own, which call functions of other members and read tables of pointers. Nobody
calls a quarter of them, which a linker can drop; many are equal but for their names, which it can fold. Templates are instantiated in
many members, of which it keeps one; classes have virtual functions; strings are equal to others', or their tails. All have DWARF.
Nothing of a library is needed. The same compiler makes the same bytes, in whatever folder.
"""
import concurrent.futures
import os
import subprocess
import sys
from pathlib import Path

from corpus import numbers

COMPILE = ["clang++-19", "-x", "c++", "-g", "-fPIC", "-ffunction-sections", "-fdata-sections", "-fno-exceptions", "-fno-rtti",
           "-ffreestanding", "-ffile-compilation-dir=.", "-c", "-"]
TEMPLATES = 200   # instances of one template, of which a member has about one for each second function
WORDS = [a + b for a in "re un pre over in out up".split() for b in "load link map fold place order write read sort".split()]

HEAD = """using number = unsigned long;
template <int N> struct row { number key, turn[1 + N % 5]; const char *name; row<N / 2> *left; };
template <> struct row<0> { number key; };
struct shape { virtual number area(number) const; virtual const char *name() const; number side = 1; };
template <int N> __attribute__((noinline)) number turned(number x, row<N> *at) {
  for (number i = 0; i < N % 4; ++i) x = x * (2 * N + 1) + at->key;
  return x ^ x >> N % 32;
}
"""


def called(member, function):
    return f"step_{member}_{function}"


def phrase(draw):
    """A string, of which many draws are the same or a tail of another one."""
    words = [WORDS[next(draw) % len(WORDS)] for _ in range(1 + next(draw) % 4)]
    return " ".join([*words, "of a section", "in the output"][next(draw) % 2:])


def function_text(member, function, members, reached, draw):
    """One function of C++, the declarations that it needs, and the string that it returns at times."""
    callees = [called(next(draw) % members, next(draw) % reached) for _ in range(1 + next(draw) % 3)]
    instance, few = next(draw) % TEMPLATES, next(draw) % 4
    body = [f"number {called(member, function)}(number x, const char **said) {{"]
    if function % 2:
        body.append(f"  row<{instance}> here{{}}; here.key = x;\n  x += turned<{instance}>(x, &here);")
    body.append(f'  if (x % {3 + few} == 0) *said = "{phrase(draw)}";')
    body += [f"  if (x & {1 << at}) x += {callee}(x >> {1 + few}, said);" for at, callee in enumerate(callees)]
    body.append(f"  return x * {2 * few + 1};\n}}")
    return "\n".join(f"number {callee}(number, const char **);" for callee in callees) + "\n" + "\n".join(body) + "\n"


def alike(member, function, few):
    """A function of which there is the same one under many names."""
    return f"number {called(member, function)}(number x, const char **said) {{ return x % {few + 2} ? (number)*said : x * {few + 3}; }}\n"


def member_text(member, members, functions, draw):
    reached = functions - functions // 4
    texts = [HEAD, f"struct shape_{member} : shape {{ number area(number) const override; const char *name() const override; }};\n"
             f"number shape_{member}::area(number x) const {{ return side * x; }}\n"
             f'const char *shape_{member}::name() const {{ return "{phrase(draw)}"; }}\n'
             f"shape *made_{member}() {{ static shape_{member} made; return &made; }}\n"]
    texts += [alike(member, function, next(draw) % 8) if function % 4 == 2 else function_text(member, function, members, reached, draw)
              for function in range(functions)]
    steps = ", ".join(called(member, function) for function in range(0, reached, 3))
    names = ", ".join(f'"{phrase(draw)}"' for _ in range(functions // 2))
    texts.append(f"number (*const steps_{member}[])(number, const char **) = {{{steps}}};\nconst char *const names_{member}[] = {{{names}}};\n"
                 f"number entry_{member}(number x, const char **said) {{\n"
                 f"  *said = names_{member}[x % {functions // 2}];\n"
                 f"  return made_{member}()->area(x) + steps_{member}[x % {len(range(0, reached, 3))}](x, said);\n}}\n")
    return "".join(texts)


def start_text(members):
    entries = "".join(f"number entry_{member}(number, const char **);\n" for member in range(members))
    calls = "".join(f"  x += entry_{member}(x, &said);\n" for member in range(members))
    fill = "  for (number i = 0; i < bytes; ++i) static_cast<char *>(to)[i] = char(value);\n  return to;\n"
    library = 'extern "C" void *memset(void *to, int value, number bytes) {\n' + fill + "}\n"   # what compilers call
    shape = 'number shape::area(number x) const { return x; }\nconst char *shape::name() const { return "shape"; }\n'
    return f'{HEAD}{library}{shape}{entries}extern "C" void _start() {{\n  number x = 1;\n  const char *said = "";\n{calls}  for (;;) {{}}\n}}\n'


def main():
    members, functions, seed = map(int, sys.argv[1:4])
    draw = numbers(seed * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF)
    texts = {f"member{member:03}.o": member_text(member, members, functions, draw) for member in range(members)}

    def compiled(name, text):
        subprocess.run([*COMPILE, "-o", name], input=text, text=True, check=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compiled, texts, texts.values()))
    compiled("start.o", start_text(members))
    subprocess.run(["llvm-ar-19", "rcsD", "library.a", *texts], check=True)
    for name in texts:
        Path(name).unlink()


main()
