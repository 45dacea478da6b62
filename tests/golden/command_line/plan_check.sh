exec "$LAB_BIN/stabctl" plan check plans/quickstart.toml
