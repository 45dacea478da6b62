"""The mutants: rows of the tables beside this file, one table for each room whose code they break.

    [[mutant]]
    name = "analysis_one_sided_p"
    build = ["rng_test"]     # the targets to build; "lab" for an experiment: no earlier mutant's build may be counted on
    tests = '-R ^Rng[.]'     # ctest's: green without the change, red with it; of programs in `build` alone
    times = true             # optional: they tell it by times (tests/times.py), which are judged here, with three tries each
    file = "base/rng.cc"     # from the repository's root
    from = 'return x;'       # text that is in the file exactly once, and what stands there instead
    to = 'return 0;'

A mutant that changes several places has [[mutant.edit]] for each, with file, from and to.
"""
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent


class MutantError(Exception):
    pass


class Edit(NamedTuple):
    file: str
    before: str
    after: str


class Mutant(NamedTuple):
    name: str
    table: Path
    build: tuple
    tests: str
    times: bool
    edits: tuple

    def files(self):
        return {edit.file for edit in self.edits}

    def changed(self, tree):
        """{path: text} of this tree's files as the mutant has them."""
        changed = {}
        for edit in self.edits:
            path = tree / edit.file
            if not path.is_file():
                raise MutantError(f"there is no file {edit.file}")
            text = changed.get(path) or path.read_text()
            if (times := text.count(edit.before)) != 1:
                raise MutantError(f"{edit.file} has its text {times} times, expected once: {edit.before.strip()[:100]}")
            changed[path] = text.replace(edit.before, edit.after)
        return changed


def of_row(row, table):
    edits = row.get("edit") or [row]
    given = {key for edit in edits for key in edit if edit is not row} | set(row)
    if unknown := given - {"name", "build", "tests", "times", "edit", "file", "from", "to"}:
        raise MutantError(f"{table.name}: '{row.get('name')}' has unknown keys {sorted(unknown)}")
    if "edit" in row and {"file", "from", "to"} & set(row):
        raise MutantError(f"{table.name}: '{row.get('name')}' has a change beside its edits; make that one an edit, too")
    try:
        changes = tuple(Edit(edit["file"], edit["from"], edit["to"]) for edit in edits)
        return Mutant(row["name"], table, tuple(row["build"]), row["tests"], row.get("times", False), changes)
    except KeyError as key:
        raise MutantError(f"{table.name}: '{row.get('name')}' has no {key}") from None


def of_text(text, table):
    """{name: mutant} of a table's text."""
    try:
        rows = tomllib.loads(text).get("mutant", [])
    except tomllib.TOMLDecodeError as error:
        raise MutantError(f"{table.name}: {error}") from None
    found = {}
    for mutant in (of_row(row, table) for row in rows):
        if mutant.name in found:
            raise MutantError(f"{table.name}: two mutants are called '{mutant.name}'")
        found[mutant.name] = mutant
    return found


def all_mutants(folder=HERE):
    """{name: mutant} of all tables, by name."""
    found = {}
    for table in sorted(folder.glob("*.toml")):
        for name, mutant in of_text(table.read_text(), table).items():
            if name in found:
                raise MutantError(f"{table.name} and {found[name].table.name}: two mutants are called '{name}'")
            found[name] = mutant
    return dict(sorted(found.items()))


if __name__ == "__main__":   # for CMake: NAME, and "lab" behind those whose tests run an experiment
    for mutant in all_mutants().values():
        print(mutant.name, *(["lab"] if "e2e" in mutant.tests or "page" in mutant.tests else []))
    sys.exit(0)
