# SPDX-License-Identifier: Apache-2.0
# Runs in the fresh Debian: install, first contact, build against libcardan-dev, upgrade, purge.
set -euo pipefail
say() { printf '== %s\n' "$*"; }
fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
apt() { apt-get -qq -o Dpkg::Use-Pty=0 -o Acquire::Retries=3 "$@" >/tmp/apt.log 2>&1 || { tail -n 20 /tmp/apt.log >&2; fail "apt-get $*"; }; }
as_user() { setpriv --reuid=nobody --regid=nogroup --clear-groups env HOME=/tmp/user "$@"; }
of() { local one; for one in "${@:2}"; do echo /tmp/packages/"$1"/"${one}"_*.deb; done; }
all=(libcardan0 libcardan-dev cardan-tools cardan-bridge python3-cardan)
mkdir -p /tmp/user
chown nobody: /tmp/user

say "install the old packages: ${all[*]}"
apt update
# shellcheck disable=SC2046
apt install $(of old "${all[@]}")
dpkg-query -W -f '  ${Package} ${Version}, ${Installed-Size} KiB\n' "${all[@]}"

say "first contact"
cardan --version
[[ $(stat -c '%U %a' /run/cardan /run/cardan/default | paste -sd,) == "root 1777,root 1777" ]] || fail "the run directory is $(stat -c '%U %a' /run/cardan)"
as_user cardan doctor >/tmp/doctor.txt || fail "cardan doctor ends with $?: $(cat /tmp/doctor.txt)"
grep "run directory" /tmp/doctor.txt
grep -q "/run/cardan/default: it exists and can be written" /tmp/doctor.txt || fail "doctor does not use /run/cardan"
for words in "bridge foxglove" "bridge dds" "bridge zenoh" view "bag convert"; do
  # shellcheck disable=SC2086
  cardan $words --help >/tmp/help.txt || fail "cardan $words --help"
done
[[ -e $(cardan schema --path) ]] || fail "the schema is not installed"
cardan demo --help >/dev/null || fail "cardan demo --help"
for file in bash-completion/completions/cardan zsh/vendor-completions/_cardan fish/vendor_completions.d/cardan.fish man/man1/cardan-topic-echo.1.gz; do
  dpkg -S "/usr/share/$file" >/dev/null || fail "no /usr/share/$file"
done
dpkg -S /usr/lib/tmpfiles.d/cardan.conf 2>/dev/null | grep -q cardan-tools || fail "no tmpfiles"
grep -q '^ExecStart=/usr/bin/cardan run /etc/cardan/%i.json' /*/systemd/system/cardan@.service /usr/lib/systemd/system/cardan@.service 2>/dev/null || fail "the unit does not start /usr/bin/cardan"

say "upgrade"
# shellcheck disable=SC2046
apt install $(of new "${all[@]}")
dpkg-query -W -f '  ${Package} ${Version}\n' "${all[@]}"
[[ $(dpkg-query -W -f '${Version}\n' "${all[@]}" | sort -u | wc -l) == 1 ]] || fail "not all were upgraded"
! dpkg-query -W -f '${Version}\n' "${all[@]}" | grep -q 0.0.9 || fail "the old version is still there"

say "compile the example: CMake"
cd /tmp/user
as_user cmake -S /tmp/source/consumer -B cmake -DUSE_CARDAN=find_package >/tmp/cmake.log && as_user cmake --build cmake >>/tmp/cmake.log 2>&1 || { tail -n 20 /tmp/cmake.log; fail "with CMake"; }
as_user cmake/consumer
say "compile the example: pkg-config"
# shellcheck disable=SC2046
as_user g++ /tmp/source/consumer/consumer.cpp $(pkg-config --cflags --libs cardan) -o plain
as_user ./plain
readelf -d plain | grep -q 'libcardan.so.0' || fail "the program is not linked with libcardan.so.0"
say "compile in C, with find_package(cardan COMPONENTS c record)"
mkdir c && cat >c/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.22)
project(c LANGUAGES C)
find_package(cardan REQUIRED COMPONENTS c messages config record)
add_executable(nobody nobody.c)
target_link_libraries(nobody PRIVATE cardan::c)
END
cat >c/nobody.c <<'END'
#include <cardan/cardan.h>
#include <stdio.h>
int main(void) {
  if (cardan_subscribe("/nobody", NULL) != NULL) return 1;
  return puts(cardan_error()) < 0;
}
END
chown -R nobody: c
(as_user cmake -S c -B c/build && as_user cmake --build c/build) >/tmp/cmake.log 2>&1 || { tail -n 20 /tmp/cmake.log; fail "in C"; }
as_user c/build/nobody
sed -i 's/COMPONENTS c /COMPONENTS nonsense /' c/CMakeLists.txt
if as_user cmake -S c -B c/other >/tmp/cmake.log 2>&1; then fail "an unknown component is found"; fi

say "a new project: build, test, check, run"
as_user cardan new project truck >/dev/null
(cd truck && as_user cmake -S . -B build && as_user cmake --build build && as_user ctest --test-dir build --output-on-failure) >/tmp/truck.log 2>&1 || { tail -n 30 /tmp/truck.log; fail "the new project"; }
as_user cardan check truck/truck.json
as_user cardan run truck/truck.json --no-view --seconds 40 >/tmp/run.log 2>&1 &
running=$!
as_user timeout 35 cardan topic echo /truck/command --once --wait || { cat /tmp/run.log; fail "nothing on /truck/command"; }
as_user cardan topic list
wait "$running" || { cat /tmp/run.log; fail "cardan run ends with $?"; }
say "Python: a frame, a recording, and components"
as_user python3 - <<'END'
import cardan, numpy
assert cardan.__file__ == "/usr/lib/python3/dist-packages/cardan/__init__.py", cardan.__file__
front = cardan.Topic("/front", cardan.Image, max_bytes=1920 * 1200 * 3)
with front.subscriber() as sub, front.publisher() as pub:
    with pub.loan() as frame:
        frame.resize(1200, 1920, "bgr8")[:] = 5
    assert (sub.wait(10).mat == 5).all()
with cardan.Bag("/tmp/user/python.mcap", "w") as bag:
    bag.write("/imu", {"header": {"stamp": 5}}, type=cardan.Imu)
assert cardan.Bag("/tmp/user/python.mcap").frame("/imu")["header.stamp"].tolist() == [5]
END
as_user cardan new project pytruck --python >/dev/null
as_user cardan run pytruck/pytruck.json --no-view --seconds 5 >/tmp/run.log 2>&1 || { cat /tmp/run.log; fail "components in Python"; }
find /usr/lib/python3/dist-packages/cardan -name '*.pyc' | grep -q . || fail "the Python package is not compiled"
python3 -c 'import cardan.component'  # as root: the purge finds nothing that it leaves

if [[ -e $(of new cardan-opencv) ]]; then
  say "cardan-opencv can be installed"
  apt-get -qq --simulate install "$(of new cardan-opencv)" >/tmp/simulate.txt || { cat /tmp/simulate.txt; fail "cardan-opencv"; }
  grep -c '^Inst' /tmp/simulate.txt
fi

say "purge"
apt purge "${all[@]}"
cd /
left=$(find / -xdev \( -path /tmp -o -path /proc -o -path /sys \) -prune -o -iname '*cardan*' -print; find /run -iname '*cardan*')
[[ -z $left ]] || fail "not removed: $left"
if dpkg -l | grep -i cardan; then fail "dpkg still knows them"; fi
say "nothing is left"
