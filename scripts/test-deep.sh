#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `make test-deep`: what takes too long for `make test`: one section after the other, then a table; ends with 1 if any of them failed.
#
#   scripts/test-deep.sh [section]...       e.g. scripts/test-deep.sh tsan arm64
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh

total=10800  # seconds for all, as a slow computer needs them from nothing on; a section gets what is left, and at most its own
#  section  minutes at most
order=(
  "format   2"
  "api      5"
  "clang   30"
  "tidy    30"
  "tests   60"
  "asan    30"
  "tsan    20"
  "arm64   15"
  "pcl      5"
  "zenoh   25"
  "dds     15"
  "deb     20"
  "fuzz    45"
)
selected=" $* "
for name; do [[ -x scripts/deep/$name.sh ]] || die "no section '$name' — there are: $(cd scripts/deep && ls *.sh | sed 's/\.sh$//' | paste -sd' ')" 2; done
mkdir -p build/deep
began=$EPOCHREALTIME
results=() failed=0 running= ahead=
trap '[[ -z $ahead ]] || kill -TERM -- "-$ahead" 2>/dev/null || true' EXIT
trap '[[ -z $running ]] || kill -TERM "$running"; die interrupted 130' INT TERM
if (($# == 0)); then
  # Many sections wait more than they compute: meanwhile, what later ones need is compiled. Each looks itself whether that is done.
  when_idle bash -c '
    CARDAN_TESTS=ON scripts/build.sh release
    CARDAN_TESTS=ON scripts/build.sh asan
    CARDAN_TESTS=ON CXX=clang++-19 scripts/build.sh tsan
    CARDAN_TESTS=OFF CXX=clang++-19 scripts/build.sh fuzz' >build/deep/ahead.log 2>&1 </dev/null &
  ahead=$!
fi
for entry in "${order[@]}"; do
  read -r name minutes <<<"$entry"
  [[ $selected == *" $name "* || $# -eq 0 ]] || continue
  title=$(sed -n '3s/^# //p' "scripts/deep/$name.sh")
  printf '\n======== %s: %s\n' "$name" "$title"
  start=$EPOCHREALTIME
  seconds=$((minutes * 60)) left=$((total - SECONDS)) code=0
  if ((seconds > left)); then seconds=$((left > 1 ? left : 1)); fi
  # In its own process group, so that its end, by time-out or Ctrl-C, is the end of all that it started.
  timeout --kill-after=20 "$seconds" bash -c 'set -o pipefail; "scripts/deep/$0.sh" 2>&1 | tee "build/deep/$0.log"' "$name" </dev/null &
  running=$!
  wait "$running" || code=$?
  running=
  case $code in
    0) result=passed ;;
    124 | 137) result="FAILED (no end within $seconds s)" ;;
    *) result=FAILED ;;
  esac
  if ((code)); then failed=1; fi
  results+=("$(printf '%-8s %8s s   %s' "$name" "$(seconds_since "$start")" "$result")")
done
printf '\n======== summary (logs in build/deep)\n'
printf '%s\n' "${results[@]}"
printf '%-8s %8s s   %s\n' all "$(seconds_since "$began")" "$( ((failed)) && echo FAILED || echo passed)"
exit $failed
