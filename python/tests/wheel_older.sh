#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The command of a wheel works with an older C library: that of Debian 11, glibc 2.31. Its packages are unpacked, not installed. Needs root, and
# apt on a Debian whose mirror has that release.
#   wheel_older.sh SITE FOLDER        SITE: where the wheel is installed; FOLDER: build/deep/older, which is kept for the next time
set -euo pipefail
site=$(realpath "$1") older=$(realpath -m "$2")
skip() { echo "skipped: the command with an older glibc ($1)"; exit 0; }
unshare --mount --pid --fork true 2>/dev/null || skip "needs root, with namespaces"
[[ $(uname -m) == x86_64 ]] || skip "for x86-64"
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null && [[ -e /usr/share/keyrings/debian-archive-keyring.gpg ]] || skip "this is not Debian"
if [[ ! -e $older/.ready ]]; then
  mirror=$(apt-get indextargets --format '$(ORIGIN) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' | awk '$1 == "Debian" && $2 == "main" && $3 !~ /security/ && !n++ {print $3}')
  [[ -n $mirror ]] || skip "apt knows no mirror"
  apt=$older/apt
  rm -rf "$older"
  mkdir -p "$apt"/{lists/partial,cache/archives/partial,parts} "$older"/root/{proc,dev,tmp,run,wheel}
  touch "$apt/status"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror bullseye main" >"$apt/sources.list"
  get=(apt-get -qq -o Dir::State="$apt" -o Dir::Cache="$apt/cache" -o Dir::State::status="$apt/status" -o Dir::Etc::sourcelist="$apt/sources.list"
    -o Dir::Etc::sourceparts="$apt/parts" -o Debug::NoLocking=1 -o APT::Sandbox::User=root)
  "${get[@]}" update >"$older/log" 2>&1 && "${get[@]}" install -y --download-only --no-install-recommends libc6 libgcc-s1 >>"$older/log" 2>&1 ||
    skip "the mirror has no Debian 11, see $older/log"
  for package in "$apt"/cache/archives/*.deb; do dpkg-deb -x "$package" "$older/root"; done
  touch "$older/.ready"
fi
# In its own namespaces: what it mounts and starts ends with it. Nothing is written into the wheel.
unshare --mount --pid --fork --kill-child --propagation private bash -euo pipefail -s "$older/root" "$site" <<'INSIDE'
root=$1
mount --bind "$2" "$root/wheel"
mount -o remount,bind,ro "$root/wheel"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/tmp"
mount -t tmpfs tmpfs "$root/run"
cardan() {
  env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp CARDAN_RUN_DIR=/run/cardan chroot "$root" /wheel/cardan/_command/bin/cardan "$@" </dev/null >"$root/tmp/said" 2>&1 ||
    { echo "cardan $*: exit code $?"; cat "$root/tmp/said"; exit 1; }
  echo "ok: cardan $*"
}
cardan --version
cardan doctor
cardan check /wheel/cardan/_command/share/cardan/street.json
cardan demo --seconds 8 --no-view --record /tmp/demo.mcap --json /tmp/demo.json --picture ""
cardan bag info /tmp/demo.mcap
grep -q /street/decision "$root/tmp/said"
INSIDE
echo "the command works with $(basename "$older"/root/lib/x86_64-linux-gnu/libc-2.*.so)"
