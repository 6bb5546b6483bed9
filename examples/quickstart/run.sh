#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the example programs named on the command line: all but the last in the background, in a run directory that is removed afterwards.
set -eu
CARDAN_RUN_DIR=$(mktemp -d)
export CARDAN_RUN_DIR
background=""
trap 'for p in $background; do kill "$p" 2>/dev/null || true; done; wait; rm -rf "$CARDAN_RUN_DIR"' EXIT
while [ $# -gt 1 ]; do
  "$1" &
  background="$background $!"
  shift
done
case $1 in *detector) "$1" 60 ;; *.py) "${CARDAN_PYTHON:-python3}" "$1" ;; *) "$1" ;; esac
