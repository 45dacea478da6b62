# What ./quickstart ends with, from the trials beside this file: a run of plans/quickstart_links.toml on two cores that did nothing
# else. quickstart_links_busy.sh has one of a busy machine, on which it has to say that nothing shows. Recorded again by
#   stabctl run plans/quickstart_links.toml --db lab.db && stabctl report quickstart-links --db lab.db --csv
STABCTL=$LAB_BIN/stabctl plans/quickstart/links tests/golden/command_line/quickstart_links.csv
