#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Everything built by clang 19 with warnings as errors.
set -euo pipefail
cd "$(dirname "$0")/../.."
CARDAN_TESTS=ON CXX=clang++-19 scripts/build.sh clang
