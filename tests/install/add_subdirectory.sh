# SPDX-License-Identifier: Apache-2.0
# add_subdirectory: the library is built as part of the other project, with none of our tests and programs.
source "$(dirname "$0")/lib.sh"
fresh "$WORK/add_subdirectory"
"$CMAKE" -S "$SOURCE/tests/install/consumer" -B "$WORK/add_subdirectory" -G Ninja -DUSE_CARDAN=add_subdirectory -DCARDAN_SOURCE="$SOURCE" \
  -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DCARDAN_UNITY=ON
"$CMAKE" --build "$WORK/add_subdirectory"
run_consumer "$WORK/add_subdirectory/consumer"
! grep -q GTest_DIR "$WORK/add_subdirectory/CMakeCache.txt" || fail "a project that uses Cardan should not look for GoogleTest"
