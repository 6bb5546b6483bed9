#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The Debian packages: lintian, and in a fresh Debian installed, used, upgraded and purged, so that nothing is left.
# The fresh Debian comes from where apt on this computer gets its packages; build/deep/debian keeps it for the next time.
set -euo pipefail
cd "$(dirname "$0")/../.."
source scripts/lib.sh
if [[ $EUID -ne 0 ]] || ! command -v debootstrap >/dev/null || ! command -v dpkg-deb >/dev/null; then
  say "skipped: a fresh Debian needs root and debootstrap"
  exit 0
fi
deep=build/deep base=build/deep/debian packages=build/deep/packages
mkdir -p "$deep"
rm -rf "$packages"
scripts/deb.sh --version 0.0.9
mv build/release/packages "$packages-old"
scripts/deb.sh
mkdir -p "$packages"
mv "$packages-old" "$packages/old"
cp -r build/release/packages "$packages/new"

say "== lintian"
if command -v lintian >/dev/null; then
  lintian --fail-on error --suppress-tags initial-upload-closes-no-bugs "$packages"/new/*.deb 2>&1 | grep -v 'running with root' ||
    ((PIPESTATUS[0] == 0)) || die "lintian finds errors (above)"
fi
say "== the packages contain no path of this computer"
for package in "$packages"/new/*.deb; do
  if dpkg-deb --fsys-tarfile "$package" | grep -aqF "$PWD"; then die "$package names $PWD"; fi
done

codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
if [[ ! -e $base/.ready ]]; then
  mirror=$(apt-get indextargets --format '$(CODENAME) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' | awk -v c="$codename" '$1 == c && $2 == "main" {print $3; exit}')
  [[ -n $mirror ]] || die "apt knows no source of $codename main — see /etc/apt/sources.list"
  say "== a fresh Debian $codename (some minutes)"
  rm -rf "$base"
  debootstrap --variant=minbase --include=g++,cmake,make,pkg-config "$codename" "$base" "$mirror" >"$deep/debootstrap.log" 2>&1 ||
    { tail -n 5 "$deep/debootstrap.log" >&2; die "debootstrap failed ($deep/debootstrap.log)"; }
  touch "$base/.ready"
fi
# In its own mount and process namespaces: what it mounts and starts ends with it, and the fresh Debian stays fresh.
layers=$(mktemp -d /tmp/cardan-fresh.XXXXXX)
trap 'rmdir "$layers"' EXIT
unshare --mount --pid --fork --kill-child --mount-proc --propagation private bash tests/packages/fresh.sh "$PWD/$base" "$PWD/$packages" "$PWD" "$layers"
