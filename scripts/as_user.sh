#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a command as an ordinary user: another user id, no group and no capability, and a separate home that is removed afterwards.
# Root hides faults. Without root, it just runs the command.
#
#   scripts/as_user.sh COMMAND [ARGUMENT]...
set -euo pipefail
[[ $EUID == 0 ]] || exec "$@"
user=54321
if [[ ${1:-} != --inside ]]; then
  home=$(mktemp -d /tmp/cardan-user.XXXXXX)
  trap 'rm -rf "$home"' EXIT
  chown "$user:$user" "$home"
  # Mounts of its own, for the next part.
  env -u XDG_RUNTIME_DIR -u CARDAN_RUN_DIR -u SUDO_USER HOME="$home" USER=cardan-test LOGNAME=cardan-test \
    unshare --mount --propagation private "$0" --inside "$PWD" "$@"
  exit
fi
tree=$2
shift 2
as=(setpriv "--reuid=$user" "--regid=$user" --clear-groups)
# Root's home is closed to others. The parts that the tests need (this tree, the Python that root uses) are shown at the same place.
declare -A hidden=()  # a folder that is closed: where it is kept
show() {
  local closed="" part rest=${1#/}
  while [[ $rest == */* ]]; do
    part=${rest%%/*} rest=${rest#*/}
    closed+=/$part part=${rest%%/*}
    if [[ -z ${hidden[$closed]:-} ]]; then
      "${as[@]}" test -x "$closed" && continue
      hidden[$closed]=$HOME/.kept-${#hidden[@]}
      mkdir "${hidden[$closed]}"
      mount --bind "$closed" "${hidden[$closed]}"
      mount -t tmpfs -o mode=755 tmpfs "$closed"
    fi
    [[ -e $closed/$part ]] && continue
    if [[ -d ${hidden[$closed]}/$part ]]; then mkdir "$closed/$part"; else touch "$closed/$part"; fi
    mount --bind "${hidden[$closed]}/$part" "$closed/$part"
  done
}
python=$(command -v "$tree/build/venv/bin/python" || command -v python3)
for needed in "$tree/scripts" "$(realpath "$python")" "$("$python" -c 'import sys; print(sys.base_prefix)')/bin"; do show "$needed"; done
cd "$tree"
"${as[@]}" "$python" -c 'import sys; open(sys.argv[1])' "$0" ||
  { echo "as_user: other users cannot read this tree, or run its Python ($python): make them readable (chmod a+rX)"; exit 77; }
exec "${as[@]}" "$@"
