# SPDX-License-Identifier: Apache-2.0
# A header in include/ includes no header of src/, and each one in include/cardan/detail is needed by one for users. That each one compiles by
# itself is what headers.sh looks at.
source "$(dirname "$0")/lib.sh"
cd "$SOURCE/include"
status=0
complain() { echo "$1" >&2; status=1; }
declare -A reached=()
visit() {  # header, and the one that includes it
  [[ -f $1 ]] || { complain "include/$2 includes $1, which is not in include/: declare what it needs, or move it there"; return; }
  [[ -z ${reached[$1]:-} ]] || return 0
  reached[$1]=yes
  local included
  while read -r included; do visit "$included" "$1"; done < <(sed -nE 's/^[ \t]*#[ \t]*include[ \t]*"([^"]*)".*/\1/p' "$1")
}
while read -r header; do visit "$header" ""; done < <(find cardan -type f -not -path 'cardan/detail/*')
while read -r header; do
  [[ -n ${reached[$header]:-} ]] || complain "no header for users needs include/$header: move it to its room in src/"
done < <(find cardan/detail -type f)
exit $status
