# SPDX-License-Identifier: Apache-2.0
# Plain g++ with pkg-config, which also says which C++ it takes: g++ 12's own default is too old.
source "$(dirname "$0")/lib.sh"
PKG_CONFIG_PATH=$(dirname "$(find "$PREFIX" -name cardan.pc)")
export PKG_CONFIG_PATH
libdir=$(pkg-config --variable=libdir cardan)
pkg-config --modversion cardan
mkdir -p "$WORK/pkg_config"
# shellcheck disable=SC2046
"$CXX" "$SOURCE/tests/install/consumer/consumer.cpp" $(pkg-config --cflags --libs cardan) -Wl,-rpath,"$libdir" -o "$WORK/pkg_config/consumer"
run_consumer "$WORK/pkg_config/consumer"
