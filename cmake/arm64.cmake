# SPDX-License-Identifier: Apache-2.0
# Toolchain: arm64 Linux with Debian's cross compiler; programs (tests) run under qemu-user. See scripts/deep/arm64.sh.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
if(NOT CMAKE_HOST_SYSTEM_PROCESSOR STREQUAL "aarch64")
  set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)
endif()

# Libraries of the build computer are of the wrong architecture; of fmt only the headers are used, so its description will do.
set(CMAKE_IGNORE_PREFIX_PATH /usr/lib/x86_64-linux-gnu)
set(CMAKE_DISABLE_FIND_PACKAGE_OpenCV ON)
file(GLOB cardan_fmt_descriptions /usr/lib/*/cmake/fmt /usr/local/lib/cmake/fmt)
if(cardan_fmt_descriptions)
  list(GET cardan_fmt_descriptions 0 fmt_DIR)
endif()
