# What a causal plan's windows can show: by its own trials, of whole runs, with too few trials, and under a load that has no knee.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/head.toml" <<'TOML'
[[program]]
name = "p"
run = ["true"]
[experiment]
name = "causal"
seed = 1
margin = "2%"
TOML
cd "$work"
shown() { # KEYS [OPTIONS]: a plan of these keys, and what is said of its windows
  { cat head.toml; echo "$1"; } > plan.toml
  shift
  "$LAB_BIN/stabctl" plan check "$@" plan.toml | sed -n '/^causal profile\|^amplified load/,$p'
}
shown 'replicates = 10
[causal]
progress = ["a", "b"]' --seconds-per-trial 30
shown 'replicates = 24
[causal]
unit = "function"
candidates = ["transform"]
speedups = ["100%"]
controls = ["null"]
experiments = "trials"'
shown 'replicates = 2
[causal]
candidates = 1' --seconds-per-trial 0.3
shown 'replicates = 2
[factors]
load = [1, 2]
[causal]
candidates = 0'
