#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds cardan-zenoh next to the command in build/release, from crates.io as Cargo.lock says: the first time some minutes.
#
#   scripts/zenoh.sh [cargo's arguments]
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh
command -v cargo >/dev/null || die "no cargo — install Rust 1.85 or newer (https://rustup.rs), or do without the bridge to Zenoh"
[[ -e build/release/lib/libcardan.so ]] || die "no library in build/release — run make first"
export CARDAN_LIB_DIR=$PWD/build/release/lib CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/build/rust}
(cd rust/cardan-zenoh && cargo build --locked --release -j "${JOBS:-$(nproc)}" "$@")
install -m 755 "$CARGO_TARGET_DIR/release/cardan-zenoh" build/release/bin/cardan-zenoh
say "zenoh: built build/release/bin/cardan-zenoh"
