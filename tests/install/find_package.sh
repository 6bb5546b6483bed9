# SPDX-License-Identifier: Apache-2.0
# find_package(cardan) against the installed files, also after these have been moved.
source "$(dirname "$0")/lib.sh"
use() {
  fresh "$WORK/find_package"
  "$CMAKE" -S "$SOURCE/tests/install/consumer" -B "$WORK/find_package" -G Ninja -DCMAKE_PREFIX_PATH="$1" -DUSE_CARDAN=find_package
  "$CMAKE" --build "$WORK/find_package"
  run_consumer "$WORK/find_package/consumer"
  [[ -x $WORK/find_package/recording ]] || return 0  # built without the recorder
  run_recording "$WORK/find_package/recording"
}
use "$PREFIX"
fresh "$WORK/moved"
cp -a "$PREFIX/." "$WORK/moved"
use "$WORK/moved"
