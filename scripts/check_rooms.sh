#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The house rules that a compiler does not check; run by ctest as `rooms`.
#   1. A folder includes only what its line in rooms.py allows, and docs/architecture.md shows these lines.
#   2. Protocol headers touch memory that others see only through the `Env` of order_table.hpp, so that the checker sees every access.
#   3. A source file has at most 500 lines, and says its licence in the first.
set -euo pipefail
cd "$(dirname "$0")/.."
status=0
complain() { printf '%s\n' "$*" >&2; status=1; }

scripts/rooms.py || status=1

found=$(grep -nE 'std::atomic|std::memory_order|__atomic_|__sync_|Atomic<' src/transport/protocol/*_protocol.hpp /dev/null | grep -vE ':[0-9]+: *//' || true)
[[ -z $found ]] || complain "$found"$'\n'"  → only through Env in protocol headers (rule 2)"

mapfile -d '' files < <(find include src apps bench demo examples python ros2 rust tests scripts cmake -not -path '*/target/*' \( -name '*.cpp' -o -name '*.hpp' -o -name '*.sh' -o -name '*.cmake' -o -name CMakeLists.txt -o -name '*.py' -o -name '*.rs' -o -name '*.pml' \) -type f -print0)
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
