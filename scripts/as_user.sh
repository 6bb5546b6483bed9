#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a command as an ordinary user: another user id, no group and no capability, and a home of its own that is removed afterwards.
# Root hides faults. Without root, it just runs the command.
#
#   scripts/as_user.sh COMMAND [ARGUMENT]...
set -euo pipefail
[[ $EUID == 0 ]] || exec "$@"
user=54321
home=$(mktemp -d "${TMPDIR:-/tmp}/cardan-user.XXXXXX")
trap 'rm -rf "$home"' EXIT
chown "$user:$user" "$home"
as=(setpriv "--reuid=$user" "--regid=$user" --clear-groups)
# Where a program lies in root's home, the user may read (and nothing more) wherever it is.
if ! "${as[@]}" "$(command -v python3)" -c 'import sys; open(sys.argv[1])' "$0" 2>/dev/null; then
  echo "as_user: this tree, or python3, is where other users may not look; the command may therefore read everything"
  as+=(--inh-caps=+dac_read_search --ambient-caps=+dac_read_search)
fi
env -u XDG_RUNTIME_DIR -u CARDAN_RUN_DIR -u SUDO_USER HOME="$home" USER=cardan-test LOGNAME=cardan-test "${as[@]}" "$@"
