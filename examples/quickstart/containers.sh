#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The example in two containers, without a container program: each has its own mounts, IPC, network, processes and host name, and an
# empty /tmp, /run and /dev/shm. They share the run directory and nothing else:  containers.sh CAMERA DETECTOR
# Then once more without sharing it, where the detector must get nothing. 77: this user may not make namespaces.
set -eu
camera=$1 detector=$2 share=$(mktemp -d) other=$(mktemp -d) out=$(mktemp -d)
ended=
# unshare itself ignores SIGTERM; with its end all of its container is killed.
trap 'for p in $ended; do kill -KILL "$p" 2>/dev/null || true; done; wait; rm -rf "$share" "$other" "$out"' EXIT
spaces="--mount --ipc --net --pid --uts --fork --kill-child --propagation private"
[ "$(id -u)" = 0 ] || spaces="--user --map-root-user $spaces"
# shellcheck disable=SC2086
if ! unshare $spaces true 2>"$out/why"; then cat "$out/why"; echo "namespaces are forbidden here"; exit 77; fi

programs=$(dirname "$(dirname "$(realpath "$camera")")")  # with the library, in lib/
container() {  # the folder that becomes its /run/cardan, then the program
  # shellcheck disable=SC2086,SC2016
  exec unshare $spaces sh -eu -c '
    mount -t proc proc /proc
    mount -t tmpfs tmpfs /mnt && mkdir /mnt/share /mnt/programs
    mount --bind "$1" /mnt/share && mount --bind "$2" /mnt/programs
    mount -t tmpfs tmpfs /run && mkdir /run/cardan && mount --bind /mnt/share /run/cardan
    mount -t tmpfs tmpfs /dev/shm
    mount -t tmpfs tmpfs /tmp
    [ -z "$(ls -A /tmp /dev/shm | grep -v :)" ]
    # Programs that lay in one of these folders are the image of the container: they lie at the same place.
    [ -d "$2" ] || { mkdir -p "$2" && mount --bind /mnt/programs "$2"; }
    umount /mnt/share /mnt/programs && umount /mnt
    shift
    for kind in mnt ipc net pid uts; do readlink "/proc/self/ns/$kind"; done >&2
    shift
    unset CARDAN_RUN_DIR XDG_RUNTIME_DIR
    exec "$@"' sh "$@"
}

(container "$share" "$programs" "$camera" 2>"$out/camera.ns") >"$out/camera" &
ended=$!
tries=0  # until the camera has announced its topic, however slow the computer is
until ls "$share"/default/t.* >/dev/null 2>&1 || [ $tries -ge 300 ]; do tries=$((tries + 1)); sleep 0.1; done
(container "$share" "$programs" timeout 30 "$detector" 60 2>"$out/detector.ns") >"$out/detector" || { cat "$out"/*; echo "the detector in the other container failed"; exit 1; }
cat "$out/detector"
grep -q "frame .*: 640 x 480 mono8" "$out/detector" || { cat "$out"/*; echo "no frame came from the other container"; exit 1; }
[ "$(wc -l <"$out/camera.ns")" -ge 5 ] && [ -z "$(sort "$out/camera.ns" "$out/detector.ns" | uniq -d)" ] ||
  { cat "$out"/*.ns; echo "the containers share a namespace"; exit 1; }
(container "$other" "$programs" timeout 5 "$detector" 30 2>/dev/null) >"$out/nothing" || true
if grep -q "640 x 480" "$out/nothing"; then cat "$out/nothing"; echo "frames came although the run directory is not shared"; exit 1; fi
echo "two containers that share only the run directory exchanged frames"
