#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The Python package with the command as a wheel, to build/wheel. It runs with glibc 2.28 and newer ones, as its tag says (manylinux).
#   scripts/wheel.sh [FOLDER [PYTHON]]
# PYTHON: the interpreter for which the wheel is, of any version from 3.9 on, with its headers; else the one of build/venv. Python 3.12 or newer
# makes a wheel for all from 3.12 on.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh
find_tools
folder=${1:-build/wheel} python=${2:-build/venv/bin/python}
[[ -n ${2:-} || -x $python ]] || python=python3
command -v "$python" >/dev/null || { [[ -z ${2:-} ]] && die "no $python — run: scripts/setup.sh --for wheel" || die "no $python"; }
mkdir -p build "$folder"
log=build/wheel.log version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
packages=(nanobind scikit-build-core)
has() { local names=("${@:2}"); "$1" -c "import $(IFS=,; echo "${names[*]//-/_}")" 2>/dev/null; }
# auditwheel of any version of Python will do: it reads files alone, and needs a newer Python than the package.
auditor=build/venv/bin/python
has "$auditor" auditwheel || { auditor='' packages+=(auditwheel); }
if ! has "$python" "${packages[@]}"; then
  venv=build/venv-$version
  if ! has "$venv/bin/python" "${packages[@]}"; then
    say "-- what builds the wheel, from PyPI, for Python $version"
    mapfile -t needs < <(grep -oE "^($(IFS='|'; echo "${packages[*]}"))[^ ]*" scripts/requirements.txt)
    "$python" -m venv "$venv" >"$log" 2>&1 && "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "${needs[@]}" >>"$log" 2>&1 ||
      { tail -n 5 "$log" >&2; die "pip could not install ${needs[*]} ($log)"; }
  fi
  python=$venv/bin/python
fi
made=$(mktemp -d "$folder/made.XXXXXX")
trap 'rm -rf "$made"' EXIT
glibc=$PWD/build/older_glibc/$(uname -m)
scripts/older_glibc.sh "$CXX" "$glibc"
# One folder for all versions of Python: the library is compiled once.
options=(--config-settings=build-dir=../build/wheel-older --config-settings=cmake.args=--fresh)
for kind in EXE SHARED MODULE; do options+=(--config-settings=cmake.define.CMAKE_${kind}_LINKER_FLAGS="$(<"$glibc/flags")"); done
# Of ninja's "[12/160]": the newest on a terminal, each tenth part elsewhere.
show_progress() {
  local live=
  if [[ -t 1 ]]; then live=1; fi
  awk -v live="$live" '
    match($0, /\[[0-9]+\/[0-9]+\]/) {
      split(substr($0, RSTART + 1, RLENGTH - 2), n, "/")
      part = int(10 * n[1] / n[2])
      if (live) printf "\r-- compiled: %d of %d", n[1], n[2]
      else if (part > said) printf "-- compiled: %d of %d\n", n[1], n[2]
      said = part
      fflush()
    }
    END {if (live && said) printf "\r\033[K"}'
}
say "-- compiles the library and the command: about $((16 / (JOBS > 16 ? 16 : JOBS))) minutes where nothing is compiled yet"
CMAKE_BUILD_PARALLEL_LEVEL=$JOBS "$python" -m pip wheel --verbose --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir "$made" "${options[@]}" \
  ./python 2>&1 | tee "$log" | show_progress || { tail -n 30 "$log" >&2; die "the wheel does not build ($log)"; }
sed -n 's/^ *-- \(no [^:]*: .*\|not in the wheel: .*\)/\1/p' "$log"
wheel=$(ls "$made"/cardan-*.whl)
name=$(basename "$wheel")
rm -f "$folder/${name%-*}"-*_"$(uname -m)".whl  # under any tag
python=${auditor:-$python} tag_wheel "$wheel" "$folder" "$log"
say "wheel: pip install $(ls "$folder/${name%-*}"-*_"$(uname -m)".whl)"
