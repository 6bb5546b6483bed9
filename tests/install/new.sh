# SPDX-License-Identifier: Apache-2.0
# `cardan new`: what it makes is built against the installed Cardan, tested, checked and run. It refuses wrong names and what exists.
source "$(dirname "$0")/lib.sh"
fresh "$WORK/new"
cd "$WORK/new"
cardan=$PREFIX/bin/cardan
CARDAN_RUN_DIR=$(mktemp -d /tmp/cardan-install.XXXXXX)
export CARDAN_RUN_DIR
runs=
trap '[[ -z $runs ]] || { kill -TERM $runs 2>/dev/null || true; wait $runs || true; }; rm -rf "$CARDAN_RUN_DIR"' EXIT
refuses() {  # words that the refusal has, then what `cardan new` gets
  local words=$1 code=0
  shift
  "$cardan" new "$@" >out.txt 2>error.txt || code=$?
  [[ $code == 2 ]] || fail "cardan new $* ends with $code, not 2: $(cat error.txt)"
  grep -qF -- "$words" error.txt || fail "cardan new $* should say «$words», but said: $(cat error.txt)"
  rm -f out.txt error.txt
}
refuses "such as lane_keeper" component LaneKeeper
refuses "cannot be the name" component ../outside
refuses "cannot be the name" project ""
refuses "longer than 40" project "$(printf 'a%.0s' {1..41})"
refuses "name is required" project
mkdir taken && touch taken/mine
refuses "exists, and is left as it is" project taken
refuses "exists, and is left as it is" project truck --folder taken
refuses "does not exist" project truck --folder nowhere/truck
[[ $(ls -A taken) == mine && $(ls -A) == taken ]] || fail "a refusal changed something: $(ls -A . taken)"
ln -s /nonexistent link
refuses "exists, and is left as it is" project link
rm link

try() {  # kind, name, folder, a topic and what it shows
  local kind=$1 name=$2 folder=$3 topic=$4 shows=$5
  "$cardan" new "$kind" "$name" --folder "$folder" >said.txt || fail "cardan new $kind $name failed"
  grep -q "cardan run $name.json" said.txt || fail "it does not say how to continue: $(cat said.txt)"
  schema=$(sed -n 's/.*"\$schema": "\(.*\)".*/\1/p' "$folder/$name.json")
  [[ -e $schema && $schema == "$PREFIX"/* ]] || fail "the schema of $name.json is '$schema', which is not the installed one"
  grep -n '@' "$folder"/* && fail "a place of the template was not filled"
  "$CMAKE" -S "$folder" -B "$folder/build" -G Ninja -DCMAKE_PREFIX_PATH="$PREFIX" -DCMAKE_CXX_FLAGS="-Wall -Wextra -Wpedantic -Werror" >configure.txt || { cat configure.txt; fail "cmake failed"; }
  grep -q "^CMAKE_BUILD_TYPE:STRING=Release$" "$folder/build/CMakeCache.txt" || fail "it is not a Release build: $(grep BUILD_TYPE "$folder/build/CMakeCache.txt")"
  "$CMAKE" --build "$folder/build" >build.txt || { cat build.txt; fail "it does not compile"; }
  "${CMAKE%cmake}ctest" --test-dir "$folder/build" --no-tests=error --output-on-failure >ctest.txt || { cat ctest.txt; fail "its test fails"; }
  "$cardan" check "$folder/$name.json" || fail "cardan check finds errors"
  "$cardan" run "$folder/$name.json" --no-view >run.txt 2>&1 &
  runs=$!
  timeout 60 "$cardan" topic echo "$topic" --once --wait >echo.txt 2>&1 || { cat run.txt echo.txt; fail "nothing on $topic"; }
  grep -q "$shows" echo.txt || { cat echo.txt; fail "$topic does not show $shows"; }
  kill -TERM $runs
  wait $runs || { cat run.txt; fail "cardan run did not end in order"; }
  runs=
}
try component lane_keeper lane_keeper /lane_keeper/state count
try project truck elsewhere /truck/command brake
