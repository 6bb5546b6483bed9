#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The bridge to Zenoh: its unit tests, and trials with PyPI's eclipse-zenoh and pyzeros, and between two networks (netem).
set -euo pipefail
cd "$(dirname "$0")/../.."
source scripts/lib.sh
if ! command -v cargo >/dev/null; then say "skipped: no cargo"; exit 0; fi
scripts/build.sh release whole_command bin/bridge_endpoints
scripts/zenoh.sh
export CARDAN_LIB_DIR=$PWD/build/release/lib CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/build/rust}
(cd rust/cardan && cargo test --locked)
(cd rust/cardan-zenoh && cargo test --locked --release)
[[ -x build/venv/bin/python ]] || python3 -m venv build/venv
build/venv/bin/python -c 'import zenoh, pyzeros' 2>/dev/null || build/venv/bin/python -m pip install --quiet 'eclipse-zenoh>=1.10,<2' 'pyzeros>=0.1,<0.2'
for test in plain cardan rmw strangers netem; do
  code=0
  build/venv/bin/python tests/bridge/zenoh_${test}_test.py build/release/bin || code=$?
  ((code == 0 || code == 77)) || exit "$code"
done
