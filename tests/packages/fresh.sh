#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the packages in a copy of a fresh Debian, and uses them there: tests/packages/fresh.sh BASE PACKAGES SOURCE LAYERS
# To be run in its own mount namespace (scripts/deep/deb.sh).
set -euo pipefail
base=$1 packages=$2 source=$3 layers=$4  # LAYERS: an empty folder
mount -t tmpfs -o size=4G cardan-fresh "$layers"
mkdir "$layers/upper" "$layers/work" "$layers/root"
root=$layers/root
mount -t overlay -o "lowerdir=$base,upperdir=$layers/upper,workdir=$layers/work" cardan-fresh "$root"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount -t tmpfs tmpfs "$root/run"
mount -t tmpfs tmpfs "$root/tmp"
chmod 1777 "$root/tmp"
# The sources of packages, and how to reach them, as this computer has them.
for name in sources.list sources.list.d apt.conf.d auth.conf.d trusted.gpg.d keyrings; do
  rm -rf "${root:?}/etc/apt/$name"
  [[ ! -e /etc/apt/$name ]] || cp -a "/etc/apt/$name" "$root/etc/apt/"
done
rm -f "$root"/etc/apt/apt.conf.d/*clean* "$root"/etc/apt/apt.conf.d/*{appstream,packagekit}*
[[ ! -d /usr/share/keyrings ]] || cp -an /usr/share/keyrings/. "$root/usr/share/keyrings/"
cp /etc/resolv.conf "$root/etc/resolv.conf"
mkdir "$root/tmp/packages" "$root/tmp/source"
cp -r "$packages/." "$root/tmp/packages"
cp -r "$source/tests/install/consumer" "$source/tests/packages" "$root/tmp/source"
chmod -R a+rX "$root/tmp/packages" "$root/tmp/source"
exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive bash /tmp/source/packages/inside.sh
