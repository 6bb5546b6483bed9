#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The house rules that a compiler does not check; run by ctest as `rooms`.
#   1. A room includes only itself and rooms above it.
#   2. Protocol headers touch memory that others see only through the `Env` of order_table.hpp, so that the checker sees every access.
#   3. A source file has at most 500 lines, and says its licence in the first.
set -euo pipefail
cd "$(dirname "$0")/.."
status=0
complain() { printf '%s\n' "$*" >&2; status=1; }

# Top to bottom; programs (apps, bench, examples) stand together below the library. A unit test may use what tests/ shares.
rooms=(cardan/base cardan/types cardan/transport cardan/messages cardan/c cardan/mcap cardan/config cardan/runtime cardan/system cardan/record cardan/bridge '(apps|bench|demo|examples|python|tests)')
for ((i = 0; i < ${#rooms[@]}; i++)); do
  [[ -d ${rooms[i]} ]] || continue
  for below in "${rooms[@]:i+1}"; do
    found=$(grep -rnE "#include [\"<]$below/" "${rooms[i]}" --include='*.hpp' --include='*.cpp' | grep -vE '_test\.[ch]pp:[0-9]+:#include "tests/' || true)
    [[ -z $found ]] || complain "$found"$'\n'"  → ${rooms[i]} stands above $below and may not include it (rule 1)"
  done
done
found=$(grep -rnE '#include "cardan/cardan\.hpp"' cardan --include='*.hpp' --include='*.cpp' | grep -v '_test\.[ch]pp:' || true)
[[ -z $found ]] || complain "$found"$'\n'"  → the umbrella is for users; inside the library include what is needed (rule 1)"

found=$(grep -nE 'std::atomic|std::memory_order|__atomic_|__sync_|Atomic<' cardan/transport/protocol/*_protocol.hpp /dev/null | grep -vE ':[0-9]+: *//' || true)
[[ -z $found ]] || complain "$found"$'\n'"  → only through Env in protocol headers (rule 2)"

mapfile -d '' files < <(find cardan apps bench demo examples python ros2 rust tests scripts cmake -not -path '*/target/*' \( -name '*.cpp' -o -name '*.hpp' -o -name '*.sh' -o -name '*.cmake' -o -name CMakeLists.txt -o -name '*.py' -o -name '*.rs' -o -name '*.pml' \) -type f -print0)
# One awk for all: three programs for each file took ten seconds.
found=$(awk '
  function judge() {
    if (lines > 500) print file " has " lines " lines, 500 are the limit: split it by ideas (rule 3)"
    if (file != "" && !licence) print file " does not begin with its licence (rule 3)"
  }
  FNR == 1 { judge(); file = FILENAME; licence = 0 }
  { lines = FNR }
  FNR <= 2 && /SPDX-License-Identifier: Apache-2.0/ { licence = 1 }
  END { judge() }' "${files[@]}"
  find "${files[@]}" -empty -printf '%p is empty (rule 3)\n')
[[ -z $found ]] || complain "$found"
((status)) || echo "rooms: in order"
exit $status
