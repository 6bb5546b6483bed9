#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Debian packages of this tree, to build/release/packages. They are for the release of Debian or Ubuntu that they are built on.
#
#   scripts/deb.sh [--version VERSION]       (default: the project's, as libcardan0_0.2.0_amd64.deb)
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh
version=
case ${1:-} in
  --version) version=${2:?--version needs a version, as 0.2.0+1} ;;
  '') ;;
  *) die "unknown option '$1' — see the head of scripts/deb.sh" 2 ;;
esac
for program in dpkg-shlibdeps dpkg-deb gzip; do
  command -v "$program" >/dev/null || die "no $program — packages are built on Debian or Ubuntu: scripts/setup.sh --for deb"
done
find_tools
scripts/build.sh release whole_packages
packages=$PWD/build/release/packages
mkdir -p "$packages"
find "$packages" -mindepth 1 -maxdepth 1 -name '*.deb' -delete
cpack=${CMAKE%cmake}cpack
arguments=()
if [[ -n $version ]]; then arguments=(-D CPACK_PACKAGE_VERSION="$version" -D CPACK_DEBIAN_PACKAGE_VERSION="$version"); fi
(cd build/release && umask 022 && "$cpack" --config CPackConfig.cmake "${arguments[@]}") >build/deb.log 2>&1 ||
  { tail -n 20 build/deb.log >&2; die "cpack failed (the rest is in build/deb.log)"; }
rm -rf "$packages/_CPack_Packages"
[[ -x build/release/bin/cardan-zenoh ]] || say "deb: cardan-bridge is without cardan-zenoh — run make zenoh first, if you need cardan bridge zenoh"
[[ -x build/release/bin/cardan-bridge-dds ]] || say "deb: cardan-bridge is without the bridge to ROS 2 — it needs cyclonedds-dev"
compgen -G "$packages/python3-cardan_*.deb" >/dev/null || say "deb: without python3-cardan — $(sed -n 's/^-- \(no .*Python package.*\)/\1/p' build/release-configure.log | tail -n 1)"
for package in "$packages"/*.deb; do say "deb: ${package#"$PWD"/} ($(($(stat -c %s "$package") / 1024)) KiB)"; done
say "deb: install them with: sudo apt-get install ./build/release/packages/*.deb"
