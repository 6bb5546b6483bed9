#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A wheel of the Python package, made as users make it, works in a fresh environment, without this tree.
#   wheel_test.sh PYTHON FOLDER
set -euo pipefail
python=$1 work=$2
source=$(cd "$(dirname "$0")/../.." && pwd)
for module in scikit_build_core nanobind auditwheel; do
  "$python" -c "import $module" 2>/dev/null || { echo "skipped: $python has no $module (scripts/setup.sh --for test installs it)"; exit 77; }
done
rm -rf "$work"
mkdir -p "$work"
"$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir "$work/dist" "$source/python"
wheel=$(ls "$work"/dist/cardan-*.whl)

# What it needs of the system: glibc and libstdc++ alone.
"$python" -m auditwheel show "$wheel" | tee "$work/audit"
grep -q manylinux "$work/audit" || { echo "the wheel suits no manylinux"; exit 1; }
"$python" -m zipfile -e "$wheel" "$work/contents"
for library in "$work"/contents/cardan/*.so*; do
  needed=$(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(libcardan(_record)?\.so\.0|lib(c|m|gcc_s|stdc\+\+|pthread|dl|rt)\.so\.[0-9]+|ld-linux.*)$' || true)
  [[ -z $needed ]] || { echo "$library needs $needed"; exit 1; }
done
readelf -d "$work"/contents/cardan/_cardan*.so | grep -q 'RUNPATH.*\[\$ORIGIN\]'

"$python" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check numpy "$wheel"
cd "$work"
CARDAN_RUN_DIR=$(mktemp -d "$work/run.XXXXXX") "$work/venv/bin/python" - <<'PYTHON'
import numpy, cardan, pathlib
assert pathlib.Path(cardan.__file__).parts[-3] == "site-packages", cardan.__file__
assert (pathlib.Path(cardan.__file__).parent / "py.typed").exists()
front = cardan.Topic("/front", cardan.Image, max_bytes=1920 * 1200 * 3)
with front.subscriber() as sub, front.publisher() as pub:
    with pub.loan() as frame:
        frame.resize(1200, 1920, "bgr8")[:] = 5
    got = sub.wait(10)
    assert got.mat.shape == (1200, 1920, 3) and (got.mat == 5).all() and not got.mat.flags.writeable
with cardan.Bag("wheel.mcap", "w", compression="zstd", replace=True) as bag:
    bag.write("/imu", {"header": {"stamp": 5}}, type=cardan.Imu)
assert cardan.Bag("wheel.mcap").frame("/imu")["header.stamp"].tolist() == [5]
print("the wheel works:", cardan.__file__)
PYTHON
