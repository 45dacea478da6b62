# Sourced by ./check, ./quickstart and packaging/container/steps: steps with logs, and the set-up that the first two begin with.
# The caller has changed to the repository's root and set `program` to its own name, and `preset` where it isn't `release`.

preset=${preset-release}
build=build/$preset
logs=$build/logs
mkdir -p "$logs"

# step NAME COMMAND...: says NAME, runs COMMAND with its output in a log, ends the program with the log's end
# and place when it fails. A function fails where its first command does: as a condition, bash would go on to its last one.
step() {
  local name=$1 log=$logs/${1// /-}.log start=$SECONDS status=0
  shift
  printf '%s: %s ... ' "$program" "$name"
  set +e
  (set -e; "$@") > "$log" 2>&1 < /dev/null
  status=$?
  set -e
  if [ $status != 0 ]; then
    echo "FAILED"
    tail -n 40 "$log" >&2
    echo "$program: failed: $name; log: $(realpath "$log")" >&2
    exit 1
  fi
  echo "$((SECONDS - start)) s"
}

# Compilations are cached where the user's ccache keeps its own, with paths relative to the root: another clone finds them, and so
# does the mutation gate, which builds a copy of the tree.
cache_compilations() {
  export CCACHE_BASEDIR=$PWD CCACHE_SLOPPINESS=pch_defines,time_macros  # the latter for precompiled headers
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
}

# set_up TARGET...: builds those targets; all of them where none is named.
set_up() {
  step "install packages" packaging/scripts/install
  if command -v ccache > /dev/null; then cache_compilations; fi
  step "configure" cmake --preset $preset
  step "build" cmake --build --preset $preset ${1:+--target "$@"}
}
