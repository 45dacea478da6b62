folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
plan=tests/golden/command_line/plans/pilot.toml
"$LAB_BIN/recorded_experiment" $plan "$folder/pilot.db" || exit
power() { "$LAB_BIN/stabctl" plan power "$@" --db "$folder/pilot.db" 2>&1 | sed "s#$folder/##g"; echo "exit ${PIPESTATUS[0]}"; }
variant() { sed "$1" $plan > "$folder/plan.toml"; }

echo "== the pilot's own plan"; power $plan --pilot pilot
echo "== fewer levels, a program that the pilot didn't run, another margin"
variant '/^heap/d; s/"off", "shuffle"/"shuffle"/; s/name = "bzip2"/name = "perl"/; s/^heap.*//'
power "$folder/plan.toml" --pilot pilot
variant 's/"off", "page"/"page"/; s/"off", "shuffle"/"shuffle"/; s/name = "bzip2"/name = "perl"/'
power "$folder/plan.toml" --pilot 1 --margin 0.002 --power 0.9
echo "== a second response: twice the questions"; variant 's/^margin/response = ["wall_time", "max_rss"]\n&/'
power "$folder/plan.toml" --pilot pilot
echo "== a level that the pilot lacks"; variant 's/"-O2", "-O3"/"-O2", "-Os"/'; power "$folder/plan.toml" --pilot pilot
echo "== a factor that the pilot lacks"; variant 's/^opt = .*/&\nstack = ["off", "on"]/'; power "$folder/plan.toml" --pilot pilot
echo "== a response that it didn't measure"; variant 's/^margin/response = "max_rss"\n&/; s/"max_rss"/"instructions"/; s/"page-faults"/"instructions"/'
power "$folder/plan.toml" --pilot pilot
echo "== other programs"; variant 's/"lua"/"perl"/; s/"bzip2"/"gcc"/'; power "$folder/plan.toml" --pilot pilot
echo "== no such pilot"; power $plan --pilot nobody
echo "== no such power"; power $plan --pilot pilot --power 80
echo "== sliced blocks, of which the pilot says nothing"; variant 's/^margin/blocks = "sliced"\nalone = "0%"\nresponse = "page-faults"\n&/'
power "$folder/plan.toml" --pilot pilot
