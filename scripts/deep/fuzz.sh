#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Coverage-guided fuzzers (libFuzzer, ASan and UBSan), two minutes each: messages, files and remains of other users do no damage.
# Arguments go to scripts/fuzz.sh.
set -euo pipefail
cd "$(dirname "$0")/../.."
scripts/fuzz.sh --seconds "${CARDAN_FUZZ_SECONDS:-120}" "$@"
