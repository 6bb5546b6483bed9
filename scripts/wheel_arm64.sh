#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The Python package as a wheel for arm64, cross-built, to build/wheel; then tried under qemu-user. It is for the version of
# Python that this Debian has, whose arm64 packages are unpacked to build/arm64-python, with the static libraries: nothing is installed.
# As scripts/wheel.sh does, it links for glibc 2.28.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh
find_tools
python=build/venv/bin/python
for program in aarch64-linux-gnu-g++ qemu-aarch64 dpkg-deb; do
  command -v "$program" >/dev/null || die "no $program — run: scripts/setup.sh --for test-deep"
done
[[ -x $python ]] || die "no $python — run: scripts/setup.sh --for test"
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
root=$PWD/build/arm64-python apt=$PWD/build/arm64-python-apt
packages=("python$version" "libpython$version-dev" libstdc++6 libdeflate-dev liblz4-dev libmd-dev libzstd-dev liburing-dev libbz2-dev libsqlite3-dev libjpeg-dev)
if [[ $(cat "$root/.ready" 2>/dev/null) != "${packages[*]}" ]]; then
  say "-- Python $version and the libraries for arm64"
  rm -rf "$root" "$apt"
  mkdir -p "$root" "$apt"/{var/lib/apt/lists/partial,var/cache/apt/archives/partial,var/lib/dpkg}
  touch "$apt/var/lib/dpkg/status"
  get=(apt-get -qq -o Dir::State="$apt/var/lib/apt" -o Dir::Cache="$apt/var/cache/apt" -o Dir::State::status="$apt/var/lib/dpkg/status"
    -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Debug::NoLocking=1 -o APT::Sandbox::User=root)
  "${get[@]}" update >build/arm64-python.log 2>&1 &&
    "${get[@]}" install -y --download-only --no-install-recommends "${packages[@]}" >>build/arm64-python.log 2>&1 ||
    { tail -n 5 build/arm64-python.log >&2; die "apt has no Python $version for arm64 — build/venv has to be of the distribution's Python"; }
  for package in "$apt"/var/cache/apt/archives/*.deb; do
    # The compiler has its own headers of the C library and the kernel.
    [[ $package == */libc6-dev_* || $package == */linux-libc-dev_* ]] || dpkg-deb -x "$package" "$root"
  done
  echo "${packages[*]}" >"$root/.ready"
fi
say "-- the wheel"
tag=cpython-${version/./}-aarch64-linux-gnu
rm -rf build/arm64-wheel build/wheel/cardan-*_aarch64.whl
mkdir -p build/wheel build/arm64-wheel
glibc=$PWD/build/older_glibc/aarch64
scripts/older_glibc.sh aarch64-linux-gnu-g++ "$glibc"
export PKG_CONFIG_LIBDIR=$root/usr/lib/aarch64-linux-gnu/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
(
  cd python
  _PYTHON_HOST_PLATFORM=linux-aarch64 SETUPTOOLS_EXT_SUFFIX=.$tag.so CMAKE_BUILD_PARALLEL_LEVEL=$JOBS "../$python" - "$root" "$version" "$tag" "$(<"$glibc/flags")" <<'PYTHON'
import pathlib
import sys

from scikit_build_core.build import build_wheel

root, version, tag, flags = sys.argv[1:]
tree = pathlib.Path.cwd().parent
headers = f"{root}/usr/include/python{version}"
arguments = [
    f"-DCMAKE_TOOLCHAIN_FILE={tree}/cmake/arm64.cmake",
    f"-DCMAKE_PREFIX_PATH={root}/usr",
    f"-DPython_INCLUDE_DIR={headers}",
    f"-DPython_SOABI={tag}",
    f"-DNB_SUFFIX=.{tag}.so",
    f"-DCMAKE_CXX_FLAGS=-isystem {root}/usr/include -isystem {root}/usr/include/aarch64-linux-gnu",
    *(f"-DCMAKE_{kind}_LINKER_FLAGS={flags}" for kind in ("EXE", "SHARED", "MODULE")),
]
build_wheel(f"{tree}/build/arm64-wheel", {"cmake.args": arguments})
PYTHON
) >build/arm64-wheel.log 2>&1 || { tail -n 20 build/arm64-wheel.log >&2; die "the wheel does not build (build/arm64-wheel.log)"; }
tag_wheel build/arm64-wheel/cardan-*_aarch64.whl build/wheel build/arm64-wheel.log
wheel=$(ls build/wheel/cardan-*_aarch64.whl)
say "-- the wheel under qemu-user"
site=$PWD/build/arm64-wheel/site
rm -rf "$site"
"$python" -m pip install --quiet --disable-pip-version-check --no-deps --target "$site" --only-binary=:all: --python-version "$version" \
  --platform manylinux_2_28_aarch64 --platform manylinux_2_27_aarch64 --platform manylinux2014_aarch64 'numpy>=1.23' "$wheel"
run=$(mktemp -d /tmp/cardan-arm64.XXXXXX)
trap 'rm -rf "$run"' EXIT
PYTHONPATH=$site CARDAN_RUN_DIR=$run qemu-aarch64 -L "$root" "$root/usr/bin/python$version" - "$run" <<'PYTHON'
import platform
import sys

import cardan

assert platform.machine() == "aarch64"
front = cardan.Topic("/front", cardan.Image, max_bytes=1920 * 1200 * 3)
with front.subscriber() as sub, front.publisher() as pub:
    for value in (5, 6):
        with pub.loan() as frame:
            frame.resize(1200, 1920, "bgr8")[:] = value
        got = sub.wait(30)
        assert got is not None and got.mat.shape == (1200, 1920, 3) and (got.mat == value).all() and not got.mat.flags.writeable
    assert sub.missed == 0
with cardan.Bag(sys.argv[1] + "/wheel.mcap", "w", compression="zstd") as bag:
    bag.write("/imu", {"header": {"stamp": 5}}, type=cardan.Imu)
assert cardan.Bag(sys.argv[1] + "/wheel.mcap").frame("/imu")["header.stamp"].tolist() == [5]
print("the wheel works:", cardan.__file__, platform.machine())
PYTHON
CARDAN_RUN_DIR=$run qemu-aarch64 -L "$root" "$site/cardan/_command/bin/cardan" topic list >build/arm64-wheel/topics 2>&1 ||
  { cat build/arm64-wheel/topics >&2; die "the command of the wheel does not run"; }
say "wheel: $wheel"
