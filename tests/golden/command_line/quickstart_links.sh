# What ./quickstart says of link orders, from the trials beside this file: a run of plans/quickstart_links.toml on two cores on
# which three compilers ran meanwhile. Recorded again by
#   stabctl run plans/quickstart_links.toml --db lab.db && stabctl report quickstart-links --db lab.db --csv
STABCTL=$LAB_BIN/stabctl plans/quickstart/links tests/golden/command_line/quickstart_links.csv
