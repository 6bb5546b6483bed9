#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-format changes nothing.
set -euo pipefail
cd "$(dirname "$0")/../.."
scripts/lint.sh --format
