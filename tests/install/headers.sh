# SPDX-License-Identifier: Apache-2.0
# Each installed header compiles by itself at a strict warning level, with nothing of this tree or of fmt and nlohmann_json around it
# (these are only needed to build the library).
source "$(dirname "$0")/lib.sh"
fresh "$WORK/headers"
status=0
while read -r header; do
  name=${header#"$PREFIX/include/"}
  case $name in */opencv.hpp | */pcl.hpp | */eigen.hpp) continue ;; esac  # need what they adapt to
  if grep -nE '#include [<"](fmt|nlohmann|CLI)/' "$header"; then echo "$name includes what only building the library needs" >&2; status=1; fi
  printf '#include "%s"\n#include "%s"\n' "$name" "$name" >"$WORK/headers/one.cpp"
  "$CXX" -std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Werror -I"$PREFIX/include" "$WORK/headers/one.cpp" ||
    { echo "$name does not compile by itself" >&2; status=1; }
done < <(find "$PREFIX/include" -name '*.hpp' -o -name '*.h' | sort)
exit $status
