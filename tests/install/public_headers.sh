# SPDX-License-Identifier: Apache-2.0
# cmake/installed_headers.txt against the sources: public headers reach listed headers only, and each `detail` header is
# needed. That each one compiles by itself is what headers.sh looks at.
source "$(dirname "$0")/lib.sh"
list=$SOURCE/cmake/installed_headers.txt
status=0
complain() { echo "$1" >&2; status=1; }
declare -A kind=() reached=()
while read -r what header; do
  [[ $what == public || $what == detail ]] || { complain "$list: '$what' is neither public nor detail"; continue; }
  [[ -z ${kind[$header]:-} ]] || complain "$list names $header twice"
  [[ -f $SOURCE/$header ]] || { complain "$list names $header, which does not exist"; continue; }
  kind[$header]=$what
done < <(grep -v '^#' "$list")

visit() {  # header, and the one that includes it
  if [[ -z ${kind[$1]:-} ]]; then complain "$2 includes $1, which is not installed: declare what it needs, or list it in $list"; return; fi
  [[ -z ${reached[$1]:-} ]] || return 0
  reached[$1]=yes
  local included
  while read -r included; do visit "$included" "$1"; done \
    < <(sed -nE 's/^[ \t]*#[ \t]*include[ \t]*"(cardan\/[^"]*)".*/\1/p' "$SOURCE/$1")
}
for header in "${!kind[@]}"; do [[ ${kind[$header]} == detail ]] || visit "$header" "$list"; done
for header in "${!kind[@]}"; do
  [[ -n ${reached[$header]:-} ]] || complain "no public header needs $header: take it out of $list"
done
exit $status
