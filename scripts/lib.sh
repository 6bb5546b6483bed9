# SPDX-License-Identifier: Apache-2.0
# The common part of the scripts: messages, and which compiler and CMake to use. To be sourced from the top of the tree.

say() { printf '%s\n' "$*"; }
die() { printf '%s: %s\n' "$(basename "$0")" "$1" >&2; exit "${2:-1}"; }

# $1: an earlier $EPOCHREALTIME
seconds_since() { awk -v a="${1/,/.}" -v b="${EPOCHREALTIME/,/.}" 'BEGIN {printf "%.1f", b - a}'; }

at_least() { [[ $(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1) == "$2" ]]; }  # version $1 >= version $2

# Sets CXX to $CXX, or to the first g++ that is 12 or newer.
find_compiler() {
  local candidate version
  for candidate in ${CXX:+"$CXX"} g++ g++-14 g++-13 g++-12; do
    command -v "$candidate" >/dev/null || continue
    version=$("$candidate" -dumpversion 2>/dev/null) || continue
    at_least "$version" 12 && { CXX=$candidate; export CXX; return 0; }
  done
  return 1
}

# Sets CMAKE and CTEST to the first pair that is 3.25 or newer: of the PATH, else the one that set-up put into build/venv.
find_cmake() {
  local candidate version
  for candidate in cmake "$PWD/build/venv/bin/cmake"; do
    command -v "$candidate" >/dev/null || continue
    version=$("$candidate" --version 2>/dev/null | awk 'NR == 1 {print $3}')
    at_least "${version:-0}" 3.25 && { CMAKE=$candidate CTEST=${candidate%cmake}ctest; return 0; }
  done
  return 1
}

find_tools() {
  find_compiler || die "no g++ 12 or newer — run scripts/setup.sh, or set CXX"
  find_cmake || die "no CMake 3.25 or newer — run scripts/setup.sh"
  # One compiler may want 1.5 GiB: a small computer with many cores takes fewer at once.
  if [[ -z ${JOBS:-} ]]; then
    JOBS=$(nproc)
    local memory
    memory=$(awk '$1 == "MemAvailable:" {print int($2 / 1572864)}' /proc/meminfo)
    if ((memory < JOBS)); then JOBS=$((memory > 0 ? memory : 1)); fi
    export JOBS
  fi
  # A compiler cache makes repeated builds of the same tree in several folders cheap; nothing depends on it.
  if [[ -z ${CMAKE_CXX_COMPILER_LAUNCHER:-} ]] && command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi
}

# To be started with &, for it ends its shell: runs a command in its own session, with what the others leave of the processors
# until its process is given to hurry. The kernel gives each session the same share (autogroup), in which nice orders nothing. Only
# root may take such an order back, and without that a busy computer would never let the command end.
when_idle() {
  exec setsid nice -n 19 bash -c '((EUID)) || { echo 19 >/proc/self/autogroup; } 2>/dev/null || true; exec "$@"' when_idle "$@"
}
hurry() { { echo 0 >"/proc/$1/autogroup"; renice -n 0 -g "$1"; } >/dev/null 2>&1 || true; }

# Puts the wheel $1 into the folder $2 with the tag of the systems on which it runs. Nothing is grafted: a wheel that needs other libraries than
# glibc and libgcc is refused, and so is one that needs a newer glibc than 2.28. $3: the log. To be called with python set.
tag_wheel() {
  local others tagged contents newer
  tagged=$(dirname "$1")/tagged contents=$(dirname "$1")/contents
  others=$("$python" -m auditwheel show --json "$1" 2>>"$3" | "$python" -c 'import json, sys; print(*json.load(sys.stdin)["external_libs"])' 2>>"$3") ||
    { tail -n 10 "$3" >&2; die "auditwheel cannot read the wheel ($3)"; }
  [[ -z $others ]] || die "the wheel needs $others of this system, which others lack — link them as static libraries, or leave out what needs them"
  # Symbols that the linker did not find have no version, which auditwheel does not look at.
  "$python" -m zipfile -e "$1" "$contents"
  newer=$({ find "$contents" -type f -exec readelf --wide --dyn-syms {} + 2>/dev/null || true; } |  # it refuses other files than programs
    awk '$5 == "GLOBAL" && $7 == "UND" && $8 !~ /@/ && $8 !~ /^_?Py/ {print $8}' | sort -u | paste -sd' ')
  [[ -z $newer ]] || die "the wheel needs what glibc 2.28 does not have: $newer — add it to packaging/wheel/older_glibc.c"
  "$python" -m auditwheel repair --patcher none --wheel-dir "$tagged" "$1" >>"$3" 2>&1 && compgen -G "$tagged/cardan-*manylinux*.whl" >/dev/null ||
    { tail -n 10 "$3" >&2; die "the wheel suits no manylinux ($3)"; }
  mv "$tagged"/cardan-*manylinux*.whl "$2"
}
