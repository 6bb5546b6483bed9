#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The tests of the package with every other supported Python that is here (3.9 to 3.14, in $PATH or of pyenv): each gets the wheel that is made for
# it, in a fresh environment.
#   interpreters_test.sh PYTHON FOLDER PROGRAMS      PYTHON: the one that the other tests use; PROGRAMS: the folder of the command
set -euo pipefail
python=$1 work=$(realpath -m "$2") programs=$(realpath "$3")
source=$(cd "$(dirname "$0")/../.." && pwd)
usual=$("$python" -c 'import sys; print(sys.version_info[1])')
others=()
shopt -s nullglob
for minor in 9 10 11 12 13 14; do
  ((minor != usual)) || continue
  for one in $(command -v "python3.$minor") "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"3.$minor".*/bin/"python3.$minor"; do
    "$one" -c 'import sysconfig, venv; open(sysconfig.get_path("include") + "/Python.h").close()' 2>/dev/null || continue
    others+=("$one")
    break
  done
done
((${#others[@]})) || { echo "skipped: no other Python from 3.9 on with its headers is here"; exit 77; }
rm -rf "$work"
mkdir -p "$work"
failed=0
for one in "${others[@]}"; do
  tag=$("$one" -c 'import sys; print(f"cp3{min(sys.version_info[1], 12)}")') name=$(basename "$one")
  compgen -G "$work/dist/cardan-*-$tag-*.whl" >/dev/null || bash "$source/scripts/wheel.sh" "$work/dist" "$one"
  "$one" -m venv "$work/$name"
  "$work/$name/bin/pip" install --quiet --disable-pip-version-check "$(ls "$work"/dist/cardan-*-"$tag"-*.whl)" 'pytest>=8' 'opencv-python-headless>=4.8'
  echo "== $("$one" --version): $(basename "$work"/dist/cardan-*-"$tag"-*.whl)"
  (cd "$work" && env -u PYTHONPATH PYTHONDONTWRITEBYTECODE=1 CARDAN_SOURCE="$source" CARDAN_COMMAND="$programs/cardan" \
    CARDAN_TEST_PUBLISHER="$programs/command_publisher" \
    "$work/$name/bin/python" -m pytest -q -p no:cacheprovider -ra "$source/python/tests") || failed=1
done
exit $failed
