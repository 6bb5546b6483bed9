#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Formatting and static checks of all sources.
#
#   scripts/lint.sh [--format] [--tidy] [--library] [--tests] [--fix] [file]...      (neither --format nor --tidy: both)
#
# --fix formats in place. clang-tidy works from the compile commands of build/clang, which this configures: in its big pieces,
# which are read faster; --library: the library only; --tests: also the tests, which takes three times as long. Named files are looked at one by one (build/tidy). A piece that had no finding is
# not checked again until its preprocessed text, the rules or the tool change.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh
format=no tidy=no fix=no tests=no where="" files=()
for argument; do
  case $argument in
    --format) format=yes ;;
    --tidy) tidy=yes ;;
    --tests) tests=yes ;;
    --library) where=/CMakeFiles/cardan ;;
    --fix) fix=yes format=yes ;;
    -*) die "unknown option '$argument' — see the head of $0" 2 ;;
    *) files+=("$argument") ;;
  esac
done
if [[ $format == no && $tidy == no ]]; then format=yes tidy=yes; fi
tool() { command -v "$1-19" || command -v "$1" || die "$1 is missing — scripts/setup.sh --for test-deep installs it"; }

# One piece. Its key is what clang-tidy reads: comments too, because they hold NOLINT.
tidy_one() {  # $1: tool, $2: build folder, $3: source, $4: checks, then options
  local tidier=$1 folder=$2 source=$3 checks=$4 command key
  shift 4
  # A test copies what it likes.
  case $source in *_tests.dir/* | *_test.cpp | "$PWD"/tests/*) checks+=${checks:+,}-performance-* ;; esac
  if [[ -n $checks ]]; then set -- "--checks=$checks" "$@"; fi
  command=$(python3 - "$folder" "$source" <<'END'
import json, re, sys
entries = json.load(open(sys.argv[1] + "/compile_commands.json"))
command = next(entry["command"] for entry in entries if entry["file"] == sys.argv[2])
print(re.sub(r" -o \S+ -c ", " -E -C ", command))
END
  ) || return
  key=$( (cd "$folder" && "$tidier" --version && cat "$OLDPWD/.clang-tidy" && echo "$@" && eval "$command") | sha256sum | cut -d' ' -f1) || return
  key=$folder/tidy/$key
  [[ ! -e $key ]] || return 0
  "$tidier" -p "$folder" --quiet --warnings-as-errors='*' "$@" "$source" || return
  mkdir -p "${key%/*}" && touch "$key"
}
export -f tidy_one

whole=no
if ((${#files[@]} == 0)); then
  whole=yes
  mapfile -t files < <(find include src apps bench demo examples ros2 tests \( -name '*.cpp' -o -name '*.hpp' \) -type f | sort)
fi
status=0
if [[ $format == yes ]]; then
  formatter=$(tool clang-format)
  if [[ $fix == yes ]]; then
    "$formatter" -i "${files[@]}"
  elif "$formatter" --dry-run --Werror "${files[@]}"; then
    say "format: ${#files[@]} files as .clang-format wants them"
  else
    say "format: differences (above) — scripts/lint.sh --fix, or make format, repairs them" >&2
    status=1
  fi
fi
if [[ $tidy == yes ]]; then
  tidier=$(tool clang-tidy)
  find_tools
  mkdir -p build
  folder=build/clang unity=ON
  if [[ $whole == no ]]; then folder=build/tidy unity=OFF; fi
  "$CMAKE" --preset clang -B "$folder" -DCARDAN_UNITY=$unity -DCARDAN_BUILD_TESTS=ON >"$folder-configure.log" 2>&1 ||
    die "CMake could not configure $folder ($folder-configure.log)"
  compiled() { sed -n 's/^ *"file": "\(.*\)",\?$/\1/p' "$folder/compile_commands.json"; }
  # Headers are checked through the sources that include them; sources that no target compiles have no command and are left out.
  if [[ $whole == yes ]]; then
    mapfile -t sources < <(compiled | grep -E "^$PWD/(include/cardan|src|apps|bench|demo|examples|tests)/|/Unity/" | grep -F "$where" | sort -u)
    if [[ $tests == no ]]; then mapfile -t sources < <(printf '%s\n' "${sources[@]}" | grep -vE "_tests\.dir/|_test\.cpp$|^$PWD/tests/"); fi
    checks=-bugprone-suspicious-include options=('--header-filter=/(include/cardan|src|apps|bench|demo|examples|tests)/.*\.[ch]pp$')
  else
    mapfile -t sources < <(compiled | grep -xF "$(printf "$PWD/%s\n" "${files[@]}")" | sort -u)
    checks="" options=()
  fi
  if ((${#sources[@]} == 0)); then
    say "tidy: none of the files is compiled by $folder"
  elif printf '%s\0' "${sources[@]}" | xargs -0 -I {} -P "$JOBS" bash -o pipefail -c 'tidy_one "$@"' tidy_one "$tidier" "$folder" {} "$checks" "${options[@]}" 2> >(grep -vE '^[0-9]+ warnings? (generated|treated as errors?)\.?$|^Suppressed|^Use -header-filter' >&2); then
    say "tidy: ${#sources[@]} translation units without findings"
  else
    say "tidy: findings (above)" >&2
    status=1
  fi
fi
exit $status
