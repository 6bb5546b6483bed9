# SPDX-License-Identifier: Apache-2.0
# docs/runtime.md, "From an empty folder", as it is written: the files of examples/component alone, the installed Cardan.
source "$(dirname "$0")/lib.sh"
fresh "$WORK/component"
cd "$WORK/component"
cp "$SOURCE"/examples/component/{CMakeLists.txt,topics.hpp,brake.cpp,radar.cpp,brake.json} .
"$CMAKE" -S . -B build -DCMAKE_PREFIX_PATH="$PREFIX" -DCMAKE_BUILD_TYPE=Release >configure.txt || { cat configure.txt; fail "cmake failed"; }
"$CMAKE" --build build >build.txt || { cat build.txt; fail "it does not compile"; }
CARDAN_RUN_DIR=$(mktemp -d /tmp/cardan-install.XXXXXX)
export CARDAN_RUN_DIR
trap 'rm -rf "$CARDAN_RUN_DIR"' EXIT
"$PREFIX/bin/cardan" check brake.json || fail "cardan check finds errors"
"$PREFIX/bin/cardan" run brake.json --no-view >run.txt 2>&1 &
runs=$!
trap 'kill -TERM $runs 2>/dev/null || true; wait $runs || true; rm -rf "$CARDAN_RUN_DIR"' EXIT
for _ in $(seq 100); do
  if timeout 5 "$PREFIX/bin/cardan" topic echo /command --once >echo.txt 2>&1 && grep -q brake echo.txt; then break; fi
  sleep 0.1
done
grep -q brake echo.txt || { cat run.txt echo.txt; fail "nothing was published on /command"; }
kill -TERM $runs
wait $runs || { cat run.txt; fail "cardan run did not end in order"; }
