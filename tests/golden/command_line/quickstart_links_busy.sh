# What ./quickstart ends with, from the trials beside this file: a run of plans/quickstart_links.toml on two cores that four
# compilers shared, so that the noise is larger than the effect and it has to say so. Recorded again by
#   stabctl run plans/quickstart_links.toml --db lab.db && stabctl report quickstart-links --db lab.db --csv
STABCTL=$LAB_BIN/stabctl plans/quickstart/links tests/golden/command_line/quickstart_links_busy.csv
