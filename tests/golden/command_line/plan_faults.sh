# Several faults at once, each with its place, line, caret and hint.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/plan.toml" <<'TOML'
[experiment]
name = "faults"
replicats = 3
seed = "x"
[factors]
code = ["off", "shuffel"]
opt = []
[[program]]
name = "p"
run = ["./p", "{otp}"]
TOML
cd "$work"
"$LAB_BIN/stabctl" plan check plan.toml
