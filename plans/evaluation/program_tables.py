"""The [[program]] of a plan, from plans/benchmarks/manifest.toml."""
import json
from pathlib import Path

from experiments import ENVIRONMENT

HERE = Path(__file__).resolve().parent


def environment_of(program, run):
    return run.env | ENVIRONMENT.get(program.name, {})


def program_text(program, runs, options, linked):
    """The [[program]] of a plan. A generated input is found in the trial's directory, where `prepare` puts it."""
    workloads = []
    for run in runs:
        shared = HERE.parents[1] / "plans/benchmarks/inputs" / run.stdin
        lines = ["[[program.workload]]", f'name = "{run.name}"',
                 f"run = {json.dumps(['./' + Path(program.binary).name, *run.args])}"]
        if run.stdin != "/dev/null":
            stdin = f"../benchmarks/inputs/{run.stdin}" if shared.exists() else run.stdin
            lines.append(f'stdin = "{stdin}"')
        expect = ([f"exit = {run.exit}"] if run.exit else []) + ([] if run.output else ["same_stdout = true"])
        if expect:
            lines.append(f"expect = {{ {', '.join(expect)} }}")
        if environment := environment_of(program, run):
            variables = ", ".join(f'{k} = "{v}"' for k, v in environment.items())
            lines.append(f"env = {{ {variables} }}")
        workloads.append("\n".join(lines))
    fetch = '"$PLAN_DIR/../benchmarks/fetch"'
    link = " --link={link}" if linked else ""
    build = f"{fetch} build {program.name} --cc {options}{link} --into ."
    folder = f"$PLAN_DIR/../../build/benchmarks/{program.name}/inputs"
    uses = [name for run in runs for name in run.uses]
    inputs = " ".join(f'"{folder}/{name}"' for name in uses) or f'"{folder}/"*'
    head = ["[[program]]", f'name = "{program.name}"', "shell = true", f"build = '{build}'",
            f"prepare = 'cp {inputs} .'" if needs_inputs(program) else "", 'timeout = "120s"']
    return "\n".join(line for line in head if line) + "\n\n" + "\n\n".join(workloads) + "\n"


def needs_inputs(program):
    return program.inputs_recipe != "true"
