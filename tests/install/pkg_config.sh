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
# The README's four lines a side compile unchanged, together with the parts that they assume: a camera and a detector.
if [[ -e /usr/include/opencv4/opencv2/videoio.hpp ]]; then
  awk '/^```cpp$/ {inside = 1; next} /^```$/ {inside = 0} inside' "$SOURCE/README.md" >"$WORK/pkg_config/lines"
  grep -q wait "$WORK/pkg_config/lines" || fail "the README has no four lines"
  {
    sed '/^$/,$d' "$WORK/pkg_config/lines"
    echo 'int main() { cv::VideoCapture capture; const auto detect = [](const cv::Mat&) {};'
    sed '1,/^$/d' "$WORK/pkg_config/lines"
    echo '}'
  } >"$WORK/pkg_config/readme.cpp"
  "$CXX" -isystem /usr/include/opencv4 -Wall -Wextra -Werror "${flags[@]}" -fsyntax-only "$WORK/pkg_config/readme.cpp"
fi
