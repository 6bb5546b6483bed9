# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests of this folder.
set -euo pipefail
fail() { echo "$1" >&2; exit 1; }
if [[ -z ${ROS_DISTRO:-} || -z ${AMENT_PREFIX_PATH:-} ]]; then
  echo "skipped: no ROS 2"
  exit 77
fi

# build FOLDER INTO [-DNAME=VALUE]...: a CMake project that finds ROS 2's packages, and the folders of PREFIXES.
build() {
  local source=$1 into=$2
  shift 2
  "$CMAKE" -S "$source" -B "$into" -G Ninja -DCMAKE_CXX_COMPILER="$CXX" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DCMAKE_PREFIX_PATH="${PREFIXES:+$PREFIXES;}${AMENT_PREFIX_PATH//:/;}" "$@" >"$into.configure.log" 2>&1 ||
    { tail -n 30 "$into.configure.log" >&2; fail "CMake could not configure $source"; }
  "$CMAKE" --build "$into" --parallel 2
}
