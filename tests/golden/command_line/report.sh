folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$LAB_BIN/recorded_experiment" tests/golden/command_line/plans/pilot.toml "$folder/pilot.db" || exit
"$LAB_BIN/recorded_experiment" tests/golden/command_line/plans/looks.toml "$folder/pilot.db" || exit
stabctl() { "$LAB_BIN/stabctl" "$@" --db "$folder/pilot.db" | sed "s#$folder#FOLDER#g"; echo "exit ${PIPESTATUS[0]}"; }
stabctl report pilot
stabctl report looks
stabctl report pilot --full
stabctl report looks --full | sed -n 1,12p
stabctl verdict opt -O2 -O3 --experiment pilot
stabctl verdict opt -O3 -O2 --experiment pilot
stabctl verdict heap page off --experiment pilot
sed 's/^seed.*/seed = 9/; s/"pilot"/"later"/' tests/golden/command_line/plans/pilot.toml > "$folder/later.toml"
"$LAB_BIN/recorded_experiment" "$folder/later.toml" "$folder/pilot.db" || exit
stabctl verdict pilot later
stabctl verdict pilot looks
stabctl verdict pilot
