#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The Python package with the command as a wheel, to build/wheel. Its tag says on which systems it runs (manylinux).
#   scripts/wheel.sh [FOLDER [PYTHON]]
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh
find_tools
folder=${1:-build/wheel} python=${2:-build/venv/bin/python} log=build/wheel.log
[[ -x $python ]] || die "no $python — run: scripts/setup.sh --for test"
mkdir -p build "$folder"
made=$(mktemp -d "$folder/made.XXXXXX")
trap 'rm -rf "$made"' EXIT
CMAKE_BUILD_PARALLEL_LEVEL=$JOBS "$python" -m pip wheel --verbose --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir "$made" ./python >"$log" 2>&1 ||
  { tail -n 30 "$log" >&2; die "the wheel does not build ($log)"; }
sed -n 's/^ *-- \(no [^:]*: .*\|not in the wheel: .*\)/\1/p' "$log"
wheel=$(ls "$made"/cardan-*.whl)
name=$(basename "$wheel")
rm -f "$folder/${name%-*}"-*_"$(uname -m)".whl  # under any tag
tag_wheel "$wheel" "$folder" "$log"
say "wheel: $(ls "$folder/${name%-*}"-*_"$(uname -m)".whl)"
