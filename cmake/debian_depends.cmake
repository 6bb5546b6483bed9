# SPDX-License-Identifier: Apache-2.0
# CPack reads this when it packs, so that another version can be given then (scripts/deb.sh --version).
# The libraries' version is the command's: what one version says to another within a system is not promised.
foreach(component DEVELOPMENT TOOLS BRIDGE OPENCV PYTHON)
  set(CPACK_DEBIAN_${component}_PACKAGE_DEPENDS "libcardan0 (= ${CPACK_PACKAGE_VERSION})")
endforeach()
foreach(component BRIDGE OPENCV)
  string(APPEND CPACK_DEBIAN_${component}_PACKAGE_DEPENDS ", cardan-tools (= ${CPACK_PACKAGE_VERSION})")
endforeach()
string(APPEND CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS ", ${CPACK_CARDAN_PYTHON_NEEDS}")
