#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the fuzzers of tests/fuzz, and those of the bridge to Zenoh (rust/cardan-zenoh/fuzz) where cargo is, each for some time: all of
# them, or the named ones. Ends with 1 if one found something.
#
#   scripts/fuzz.sh [--seconds N] [--list] [target]...        e.g. scripts/fuzz.sh --seconds 3600 server client
#
# One to a processor, JOBS at a time. Their findings stay in build/fuzz/corpus and is where the next run begins; what they find is
# in build/fuzz/findings. An input alone:  build/fuzz/bin/<target>_fuzz FILE   (zenoh_*: with LD_LIBRARY_PATH=build/release/lib)
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh

seconds=120 targets=() all=()
for file in tests/fuzz/*_fuzz.cpp; do all+=("$(basename "$file" _fuzz.cpp)"); done
if command -v cargo >/dev/null; then for file in rust/cardan-zenoh/fuzz/*.rs; do all+=("$(basename "$file" .rs)"); done; fi
while (($#)); do
  case $1 in
    --seconds) [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || die "--seconds needs a number" 2; seconds=$2; shift ;;
    --seconds=*) seconds=${1#--seconds=} ;;
    --list) printf '%s\n' "${all[@]}"; exit 0 ;;
    -h | --help) sed -n '3,9p' "$0" | sed 's/^# \{0,1\}//'; exit 0 ;;
    -*) die "unknown option '$1' — see scripts/fuzz.sh --help" 2 ;;
    *) [[ " ${all[*]} " == *" $1 "* ]] || die "no target '$1' — there are: ${all[*]}" 2; targets+=("$1") ;;
  esac
  shift
done
((${#targets[@]})) || targets=("${all[@]}")

export JOBS=${JOBS:-$(nproc)}
build=build/fuzz findings=build/fuzz/findings
rust=() cpp=()
for name in "${targets[@]}"; do if [[ $name == zenoh_* ]]; then rust+=("$name"); else cpp+=("$name"); fi; done
if ((${#cpp[@]})); then CARDAN_TESTS=OFF CXX=clang++-19 scripts/build.sh fuzz; fi
find_tools
mkdir -p "$findings" "$build/log" "$build/bin"
# Stable Rust has what libFuzzer needs. The wrapper gives it to the bridge alone, so that the rest is that of `make zenoh`.
build_rust() {
  [[ -e build/release/lib/libcardan.so ]] || scripts/build.sh release cardan
  export CARDAN_LIB_DIR=$PWD/build/release/lib CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/build/rust}
  (cd rust/cardan-zenoh && RUSTC_WORKSPACE_WRAPPER=$PWD/fuzz/rustc.sh \
    cargo build --locked --release --features fuzz -j "$JOBS" "${rust[@]/#/--bin=}")
  for name in "${rust[@]}"; do install -m 755 "$CARGO_TARGET_DIR/release/$name" "$build/bin/${name}_fuzz"; done
}
if ((${#rust[@]})); then build_rust; fi
# Short, because sockets lie in it, and in memory where that is possible. A run that a signal ends leaves its folder there.
scratch=$(mktemp -d -p /dev/shm cardan-fuzz.XXXXXX 2>/dev/null || mktemp -d /tmp/cardan-fuzz.XXXXXX)
workers=()
trap 'rm -rf "$scratch"' EXIT
trap 'for w in "${workers[@]}"; do kill -TERM -- "-$w" 2>/dev/null || true; done; exit 130' INT TERM
export TMPDIR=$scratch
export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:quarantine_size_mb=64
export UBSAN_OPTIONS=print_stacktrace=1
ASAN_SYMBOLIZER_PATH=$(command -v llvm-symbolizer-19 || command -v llvm-symbolizer || true)
export ASAN_SYMBOLIZER_PATH

# A leak is looked for at the end only: after each input it would take most of the time.
run_one() {  # $1: the target, $2: the processor
  local corpus=$build/corpus/$1 known=tests/fuzz/corpus/$1 inputs pin=()
  mkdir -p "$corpus"
  # Next to a program of Rust lies the instrumented library, whose symbols it does not have.
  if [[ $1 == zenoh_* ]]; then local -x LD_LIBRARY_PATH=$PWD/build/release/lib; fi
  CARDAN_FUZZ_SEEDS=$corpus "$build/bin/$1_fuzz" >"$build/log/$1" 2>&1 || return 0  # the empty log tells
  inputs=("$corpus")
  if [[ -d $known ]]; then inputs+=("$known"); fi
  # Helper threads take turns with the target: on one processor that needs no wake-up of another.
  if command -v taskset >/dev/null; then pin=(taskset -c "$2"); fi
  "${pin[@]}" "$build/bin/$1_fuzz" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -malloc_limit_mb=512 -max_len=8192 \
    -len_control=20 -detect_leaks=0 -print_final_stats=1 -artifact_prefix="$findings/$1-" "${inputs[@]}" >"$build/log/$1" 2>&1 &&
    echo "ended in order" >>"$build/log/$1"
}
mapfile -t processors < <(taskset -cp $$ 2>/dev/null | sed 's/.*: //' | tr , '\n' | while IFS=- read -r a b; do seq "$a" "${b:-$a}"; done)
((${#processors[@]})) || processors=(0)
jobs=$((JOBS < ${#processors[@]} ? JOBS : ${#processors[@]}))
say "fuzz: ${#targets[@]} targets, $seconds s each, $jobs at a time"
set -m  # each worker is a process group: its end is the end of what it runs
for ((w = 0; w < jobs; w++)); do
  (for ((i = w; i < ${#targets[@]}; i += jobs)); do run_one "${targets[i]}" "${processors[w]}" || true; done) &
  workers+=($!)
done
set +m
for w in "${workers[@]}"; do wait "$w"; done

failed=0
printf '%-20s %10s %8s %8s   %s\n' target runs edges inputs result
for name in "${targets[@]}"; do
  log=$build/log/$name result="nothing found"
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  edges=$(grep -ao 'cov: [0-9]*' "$log" | tail -n 1 | cut -d' ' -f2 || true)
  if ! grep -aq '^ended in order$' "$log"; then
    failed=1
    input=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
    cause=$(grep -aE '^==FUZZ==|what\(\):|runtime error|ERROR: |^SUMMARY' "$log" | head -n 1 || true)
    result="FOUND: ${cause:-it did not end in order} — input: ${input:-none}, whole log: $log"
  fi
  printf '%-20s %10s %8s %8s   %s\n' "$name" "${runs:-?}" "${edges:-?}" "$(find "$build/corpus/$name" -type f | wc -l)" "$result"
done
exit $failed
