# SPDX-License-Identifier: Apache-2.0
# Plain g++ with pkg-config, which also says which C++ it takes: g++ 12's own default is too old.
source "$(dirname "$0")/lib.sh"
PKG_CONFIG_PATH=$(dirname "$(find "$PREFIX" -name cardan.pc)")
export PKG_CONFIG_PATH
eval "libdir=$(pkg-config --variable=libdir cardan)"  # pkg-config quotes for a shell
pkg-config --modversion cardan
mkdir -p "$WORK/pkg_config"
eval "flags=($(pkg-config --cflags --libs cardan))"
"$CXX" "$SOURCE/tests/install/consumer/consumer.cpp" "${flags[@]}" -Wl,-rpath,"$libdir" -o "$WORK/pkg_config/consumer"
run_consumer "$WORK/pkg_config/consumer"
