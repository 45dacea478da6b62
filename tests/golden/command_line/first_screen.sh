# The first screen of a real experiment, the one that docs/how-to/read-a-report.md follows: 2,070 trials of docs/evaluation/data.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
xz -dc docs/evaluation/data/optimization.json.xz > "$folder/data.json"
"$LAB_BIN/recorded_evaluation" plans/evaluation/optimization.toml "$folder/data.json" "$folder/lab.db" || exit
cd "$folder"
"$LAB_BIN/stabctl" report evaluation-optimization --db lab.db
