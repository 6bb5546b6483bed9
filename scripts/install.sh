#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what build/release holds: scripts/install.sh PREFIX (DESTDIR is honoured, for packagers).
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh
[[ -n ${1:-} ]] || die "no folder given — scripts/install.sh PREFIX, or make install PREFIX=/usr/local"
prefix=$1
[[ $prefix == /* ]] || prefix=$PWD/$prefix
find_tools
target=${DESTDIR:-}$prefix
parent=$target
while [[ ! -e $parent ]]; do parent=$(dirname "$parent"); done
[[ -d $parent && -w $parent ]] || die "$parent is not a folder that you may write to — use sudo make install PREFIX=$prefix, or another PREFIX"
"$CMAKE" --install build/release --prefix "$prefix" >build/install.log 2>&1 ||
  { tail -n 10 build/install.log >&2; die "installing to $prefix failed (build/install.log)"; }
# The dynamic linker finds libraries in /usr/local/lib and the like through its cache.
if [[ -z ${DESTDIR:-} && $EUID -eq 0 ]] && command -v ldconfig >/dev/null; then ldconfig; fi
say "installed to $target: $(grep -cE -- '-- (Installing|Up-to-date):' build/install.log) files"
case :$PATH: in *:$prefix/bin:*) ;; *) say "  for the command:     export PATH=$prefix/bin:\$PATH" ;; esac
case $prefix in
  /usr | /usr/local) ;;
  *) say "  for CMake:           -DCMAKE_PREFIX_PATH=$prefix"
     say "  for pkg-config:      export PKG_CONFIG_PATH=$prefix/lib/pkgconfig"
     say "  for running:         programs find the library by rpath (CMake), or export LD_LIBRARY_PATH=$prefix/lib" ;;
esac
