# SPDX-License-Identifier: Apache-2.0
# Debian packages of what is built: `make deb`, or cpack in a build folder. A component of CardanInstall.cmake is a package.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME cardan)
set(CPACK_PACKAGE_VENDOR "The Cardan authors")
set(CPACK_PACKAGE_CONTACT "The Cardan authors <maintainers@cardan.example>")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_SET_DESTDIR ON)  # what is installed knows its place, /usr
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL runtime development tools bridge)
if(TARGET cardan_images OR TARGET street_components)
  list(APPEND CPACK_COMPONENTS_ALL opencv)
endif()
get_property(CPACK_CARDAN_PYTHON_NEEDS GLOBAL PROPERTY CARDAN_PYTHON_PACKAGE_NEEDS)
add_custom_target(whole_packages)
if(TARGET whole_command)
  add_dependencies(whole_packages whole_command)
endif()
if(CPACK_CARDAN_PYTHON_NEEDS)
  list(APPEND CPACK_COMPONENTS_ALL python)
  add_dependencies(whole_packages cardan_python)
endif()
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION TRUE)
# The libraries that a package's programs and libraries load give the packages that it depends on.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/lib)
# Copyright, changelog, search paths: what Debian wants, and others do not.
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/debian_details.cmake)
set(CPACK_CARDAN_SOURCE ${PROJECT_SOURCE_DIR})

# name of the component, package, section, and what it is
macro(cardan_package component package section summary)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${summary}\n${ARGN}")
endmacro()
cardan_package(runtime libcardan0 libs "Communication of one vehicle computer: the libraries"
  "Cardan carries camera, LiDAR and every other stream from the sensor drivers\nto perception, planning and control in microseconds, over shared memory that\nonly its publisher can write. These are the libraries that programs load.")
cardan_package(development libcardan-dev libdevel "Communication of one vehicle computer: headers"
  "What is needed to compile programs that use Cardan: headers, and the files of\nCMake and pkg-config.")
cardan_package(tools cardan-tools utils "Communication of one vehicle computer: the command"
  "The command cardan starts systems of components, shows topics and processes,\nrecords and plays. With its manual pages, the shared run directory /run/cardan\nand a systemd unit for each configuration.")
cardan_package(bridge cardan-bridge net "Communication of one vehicle computer: bridges"
  "Carry topics to and from ROS 2 (DDS), other computers (Zenoh), Foxglove and\nbrowsers: cardan bridge, cardan view.")
cardan_package(opencv cardan-opencv utils "Communication of one vehicle computer: pictures"
  "What needs OpenCV: the street of cardan demo, and pictures and videos of\nrecordings (cardan bag export).")
cardan_package(python python3-cardan python "Communication of one vehicle computer: Python"
  "Publish and subscribe from Python: images and point clouds as NumPy arrays over\nshared memory, without a copy. Also recordings, and components in Python.")

# The dependency of other packages that load the libraries; and the dynamic linker's cache is renewed.
file(WRITE ${PROJECT_BINARY_DIR}/generated/debian/shlibs
  "libcardan 0 libcardan0 (>= ${PROJECT_VERSION})\nlibcardan_record 0 libcardan0 (>= ${PROJECT_VERSION})\n")
file(WRITE ${PROJECT_BINARY_DIR}/generated/debian/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/generated/debian/shlibs ${PROJECT_BINARY_DIR}/generated/debian/triggers)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "cardan-tools")
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/debian_depends.cmake)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SUGGESTS "cardan-bridge, cardan-opencv, graphviz, python3-cardan")
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "cardan-tools, python3-opencv")
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/debian/python/postinst ${PROJECT_SOURCE_DIR}/packaging/debian/python/prerm)
set(CPACK_DEBIAN_TOOLS_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/debian/postinst ${PROJECT_SOURCE_DIR}/packaging/debian/postrm
    ${PROJECT_SOURCE_DIR}/packaging/debian/prerm)
include(CPack)
