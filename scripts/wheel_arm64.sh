#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The Python package as a wheel for arm64, cross-built, to build/wheel; then tried under qemu-user. It is for the version of
# Python that this Debian has, whose arm64 packages are unpacked to build/arm64-python: nothing is installed.
# It is without the recorder, whose static libraries would have to be there for arm64: so its command has no record, play, bag and tour.
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
if [[ ! -e $root/.ready ]]; then
  say "-- Python $version for arm64"
  rm -rf "$root" "$apt"
  mkdir -p "$root" "$apt"/{var/lib/apt/lists/partial,var/cache/apt/archives/partial,var/lib/dpkg}
  touch "$apt/var/lib/dpkg/status"
  get=(apt-get -qq -o Dir::State="$apt/var/lib/apt" -o Dir::Cache="$apt/var/cache/apt" -o Dir::State::status="$apt/var/lib/dpkg/status"
    -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Debug::NoLocking=1 -o APT::Sandbox::User=root)
  "${get[@]}" update >build/arm64-python.log 2>&1 &&
    "${get[@]}" install -y --download-only --no-install-recommends "python$version" "libpython$version-dev" libstdc++6 >>build/arm64-python.log 2>&1 ||
    { tail -n 5 build/arm64-python.log >&2; die "apt has no Python $version for arm64 — build/venv has to be of the distribution's Python"; }
  for package in "$apt"/var/cache/apt/archives/*.deb; do dpkg-deb -x "$package" "$root"; done
  # Debian's pyconfig.h leads there. The C library's headers beside it are not for this compiler.
  mkdir -p "$root/headers/aarch64-linux-gnu"
  ln -sfn "../../usr/include/aarch64-linux-gnu/python$version" "$root/headers/aarch64-linux-gnu/python$version"
  touch "$root/.ready"
fi
say "-- the wheel"
tag=cpython-${version/./}-aarch64-linux-gnu
rm -rf build/arm64-wheel build/wheel/cardan-*_aarch64.whl
mkdir -p build/wheel build/arm64-wheel
(
  cd python
  _PYTHON_HOST_PLATFORM=linux-aarch64 SETUPTOOLS_EXT_SUFFIX=.$tag.so CMAKE_BUILD_PARALLEL_LEVEL=$JOBS "../$python" - "$root" "$version" "$tag" <<'PYTHON'
import pathlib
import sys

from scikit_build_core.build import build_wheel

root, version, tag = sys.argv[1:]
tree = pathlib.Path.cwd().parent
headers = f"{root}/usr/include/python{version}"
arguments = [
    f"-DCMAKE_TOOLCHAIN_FILE={tree}/cmake/arm64.cmake",
    f"-DCMAKE_PREFIX_PATH={tree}/build/arm64/deps",
    f"-DPython_INCLUDE_DIR={headers}",
    f"-DPython_SOABI={tag}",
    f"-DNB_SUFFIX=.{tag}.so",
    f"-DCMAKE_CXX_FLAGS=-isystem {root}/headers",
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
  --platform manylinux_2_28_aarch64 --platform manylinux_2_27_aarch64 --platform manylinux2014_aarch64 'numpy>=1.23'
"$python" -m zipfile -e "$wheel" "$site"
run=$(mktemp -d /tmp/cardan-arm64.XXXXXX)
trap 'rm -rf "$run"' EXIT
PYTHONPATH=$site CARDAN_RUN_DIR=$run qemu-aarch64 -L "$root" "$root/usr/bin/python$version" - <<'PYTHON'
import platform

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
try:
    cardan.Bag("x.mcap")
except cardan.Error as error:
    assert error.code == "unavailable", error
print("the wheel works:", cardan.__file__, platform.machine())
PYTHON
# As pip does; Python's zipfile does not.
chmod +x "$site"/cardan/_command/bin/*
CARDAN_RUN_DIR=$run qemu-aarch64 -L "$root" "$site/cardan/_command/bin/cardan" topic list >build/arm64-wheel/topics 2>&1 ||
  { cat build/arm64-wheel/topics >&2; die "the command of the wheel does not run"; }
say "wheel: $wheel"
