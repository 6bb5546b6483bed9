#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The tests labelled `deep`: all protocol models with their mutants, the memory-order check, long stress, 10,000 kills of
# publishers and subscribers, 1,000 of components, and what of the installed tree needs a compiler for minutes.
# Side by side as far as each says: the models and the kills use one processor each.
set -euo pipefail
cd "$(dirname "$0")/../.."
source scripts/lib.sh
find_tools
CARDAN_TESTS=ON scripts/build.sh release
"$CTEST" --test-dir build/release --output-on-failure --no-tests=error -j "$JOBS" -L '^deep$' "$@"
