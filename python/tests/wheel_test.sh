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
bash "$source/scripts/wheel.sh" "$work/dist" "$python"
wheel=$(ls "$work"/dist/cardan-*.whl)

# Its needs of the system: glibc 2.28 or newer, and libgcc.
version=$(sed -n 's/.*-manylinux_2_\([0-9]*\)_.*\.whl/\1/p' <<<"$wheel")
[[ -n $version ]] && ((version <= 28)) || { echo "$wheel is not for manylinux_2_28 or older"; exit 1; }
"$python" -m auditwheel show "$wheel" | tee "$work/audit"
grep -q "\"manylinux_2_${version}_" "$work/audit" || { echo "the wheel does not suit its tag"; exit 1; }
"$python" -m zipfile -e "$wheel" "$work/contents"
parts=0
while read -r part; do
  [[ $(head -c 4 "$part") == $'\177ELF' ]] || continue
  parts=$((parts + 1))
  needed=$(readelf -d "$part" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | grep -vE '^(libcardan(_record)?\.so\.0|lib(c|m|gcc_s|pthread|dl|rt)\.so\.[0-9]+|ld-linux.*)$' || true)
  [[ -z $needed ]] || { echo "$part needs $needed"; exit 1; }
done < <(find "$work/contents" -type f)
((parts >= 6)) || { echo "the wheel has only $parts programs and libraries"; exit 1; }
readelf -d "$work"/contents/cardan/_cardan*.so | grep -q 'RUNPATH.*\[\$ORIGIN\]'
readelf -d "$work"/contents/cardan/_command/bin/cardan | grep -q 'RUNPATH.*\[\$ORIGIN/../..\]'
[[ $(find "$work/contents" -name 'libcardan*.so*' | wc -l) == 2 ]] || { echo "a library is there twice"; exit 1; }

"$python" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check "$wheel[opencv]"
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
mkdir "$work/command"
"$work/venv/bin/python" "$source/python/tests/wheel_command.py" "$work/command"
bash "$source/python/tests/wheel_older.sh" "$work"/venv/lib/python*/site-packages "$source/build/deep/older"
