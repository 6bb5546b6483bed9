#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The PCL adaptor's test against PCL's own headers.
# The headers come from build/pcl (unpacked by set-up) or from an installed libpcl-dev.
set -euo pipefail
cd "$(dirname "$0")/../.."
source scripts/lib.sh
find_tools
scripts/build.sh release cardan
headers=$(compgen -G 'build/pcl/usr/include/pcl-1.*' || compgen -G '/usr/include/pcl-1.*') ||
  die "no PCL headers — scripts/setup.sh --for test-deep unpacks them to build/pcl"
mkdir -p build/deep
"$CXX" -std=c++20 -O1 -Wall -Wextra -Werror -I. -Iinclude -isystem "${headers%%$'\n'*}" -isystem /usr/include/eigen3 \
  src/messages/pcl_test.cpp -Lbuild/release/lib -lcardan -lgtest -lgtest_main -pthread \
  -Wl,-rpath,"$PWD/build/release/lib" -o build/deep/pcl_tests
build/deep/pcl_tests
