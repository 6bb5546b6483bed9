# SPDX-License-Identifier: Apache-2.0
# The installed headers compile at a strict warning level, without this tree, fmt or nlohmann_json
# (these are only needed to build the library): all together, forwards and backwards, or with the argument `alone` each by itself.
source "$(dirname "$0")/lib.sh"
fresh "$WORK/headers"
status=0 names=()
compile() {  # what, header...
  local what=$1
  shift
  printf '#include "%s"\n' "$@" >"$WORK/headers/one.cpp"
  "$CXX" -std=c++20 -fsyntax-only -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Werror -I"$PREFIX/include" "$WORK/headers/one.cpp" ||
    { echo "$what" >&2; status=1; }
}
while read -r header; do
  name=${header#"$PREFIX/include/"}
  case $name in */opencv.hpp | */pcl.hpp | */eigen.hpp) continue ;; esac  # need what they adapt to
  if grep -nE '#include [<"](fmt|nlohmann|CLI)/' "$header"; then echo "$name includes what only building the library needs" >&2; status=1; fi
  names+=("$name")
done < <(find "$PREFIX/include" -name '*.hpp' -o -name '*.h' | sort)
((${#names[@]} > 50)) || { echo "$PREFIX/include holds ${#names[@]} headers only" >&2; status=1; }
if [[ ${1:-} == alone ]]; then
  for name in "${names[@]}"; do compile "$name does not compile by itself" "$name" "$name"; done
else
  backwards=()
  for name in "${names[@]}"; do backwards=("$name" "${backwards[@]}"); done
  compile "the installed headers do not compile together" "${names[@]}" "${names[@]}"
  compile "the installed headers, the last ones first, do not compile together" "${backwards[@]}"
fi
exit $status
