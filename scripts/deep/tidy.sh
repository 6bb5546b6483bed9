#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy finds nothing (.clang-tidy says what is looked for).
set -euo pipefail
cd "$(dirname "$0")/../.."
scripts/lint.sh --tidy
