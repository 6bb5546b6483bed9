#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The programs built by clang 19 with warnings as errors. (The tests are, with the thread sanitizer.)
set -euo pipefail
cd "$(dirname "$0")/../.."
CARDAN_TESTS=OFF CXX=clang++-19 scripts/build.sh clang
