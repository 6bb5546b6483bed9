#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The libraries that a wheel is linked with, so that it runs with glibc 2.28 and newer ones, although this system has a newer one.
#   scripts/older_glibc.sh COMPILER FOLDER [VERSION]
# Makes libraries in FOLDER that name what this system's C library has, each function with the newest version that glibc VERSION (2.28) knew. The
# linker writes these into the programs; the loader of any later system finds them. Newer ones are in packaging/wheel, or missing, which
# scripts/wheel.sh says. $FOLDER/flags are the options for the linker.
set -euo pipefail
cd "$(dirname "$0")/.."
source scripts/lib.sh
compiler=$1 folder=$2 version=${3:-2.28}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
link=("$compiler" -shared -nostdlib -Wl,--hash-style=gnu)

# $1: libc or libm. Its names, each with the newest version that VERSION knew: NAME VERSION TYPE BINDING SIZE ADDRESS, by address.
describe() {
  readelf --wide --dyn-syms "$("$compiler" -print-file-name="$1")" | awk -v newest="$version" '
    function number(text, parts) { split(text, parts, "."); return parts[1] * 1000000 + parts[2] * 1000 + parts[3] }
    $7 == "UND" || $4 == "TLS" || split($8, name, /@+GLIBC_/) != 2 || name[2] !~ /^[0-9.]+$/ || number(name[2]) > number(newest) { next }
    !(name[1] in version) || number(version[name[1]]) < number(name[2]) { version[name[1]] = name[2]; rest[name[1]] = $4 " " $5 " " $3 " " $2 }
    END { for (one in version) print one, version[one], rest[one] }' | LC_ALL=C sort -k6,6 -k1,1
}
for library in libc.so.6 libm.so.6; do
  name=$folder/${library%%.*}
  describe "$library" >"$name.names"
  [[ -s $name.names ]] || die "$library of $compiler names no functions"
  # Functions need a name alone. A program may have a copy of a variable: the linker needs its size, and all its names (environ, __environ), which
  # have one address.
  awk '$3 != "OBJECT" {print ".text\n.globl " $1 "\n.type " $1 ",%function\n" $1 ":"; next}
       {print ".bss"; if ($6 != last) print (last ? ".space " size : "") "\n.balign 32"; last = $6; size = $5
        print ($4 == "WEAK" ? ".weak " : ".globl ") $1 "\n.type " $1 ",%object\n.size " $1 "," size "\n" $1 ":"}
       END {if (last) print ".bss\n.space " size}' "$name.names" >"$name.s"
  awk '{names[$2] = names[$2] " " $1 ";"} END {for (one in names) print "GLIBC_" one " {" names[one] " };"}' "$name.names" >"$name.map"
  "${link[@]}" -Wl,-soname,"$library" -Wl,--version-script="$name.map" -x assembler "$name.s" -o "$folder/$library"
done
# Their functions are part of libc.so.6 from 2.34 on, with the same versions. Before, a program has to name these files.
for library in libpthread.so.0 libdl.so.2 librt.so.1; do "${link[@]}" -Wl,-soname,"$library" -x assembler /dev/null -o "$folder/$library"; done
rm -f "$folder/libolder_glibc.a"
for part in older_glibc older_start; do
  "$compiler" -x c -std=gnu17 -O2 -fPIC -fvisibility=hidden -Wall -Wextra -c "packaging/wheel/$part.c" -o "$folder/$part.o"
  ar rcs "$folder/libolder_glibc.a" "$folder/$part.o"
done
loader=$("$compiler" -print-file-name=ld-linux-x86-64.so.2)
[[ $loader == /* ]] || loader=$("$compiler" -print-file-name=ld-linux-aarch64.so.1)
[[ $loader == /* ]] || die "$compiler is for a computer of another kind than x86-64 and arm64"
rest=$("$compiler" -print-file-name=libc_nonshared.a)
echo "GROUP ( $folder/libolder_glibc.a $folder/libc.so.6 $folder/libpthread.so.0 $folder/libdl.so.2 $folder/librt.so.1 $rest AS_NEEDED ( $loader ) )" >"$folder/libc.so"
echo "GROUP ( $folder/libm.so.6 )" >"$folder/libm.so"
for library in pthread dl rt; do echo "INPUT ( $folder/libc.so )" >"$folder/lib$library.so"; done
# The C++ library's names stay inside of each file. This system's libgcc may need what is newer; the older system has its own.
echo "-L$folder -static-libstdc++ -Wl,--no-as-needed -Wl,--exclude-libs,ALL -Wl,--allow-shlib-undefined -Wl,--wrap=__libc_start_main" >"$folder/flags"
