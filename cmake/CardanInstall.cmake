# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where, so that others find the library with find_package(cardan) or pkg-config.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
# Each file belongs to a component, which becomes a package (CardanPackage.cmake) or can be installed alone:
# cmake --install build/release --component runtime
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
# Libraries that the programs load, and no program links: in their own folder.
set(cardan_private_libdir lib/cardan)
file(RELATIVE_PATH cardan_private_to_lib "/p/${cardan_private_libdir}" "/p/${CMAKE_INSTALL_LIBDIR}")
file(RELATIVE_PATH cardan_libexec_to_lib "/p/libexec/cardan" "/p/${CMAKE_INSTALL_LIBDIR}")

install(TARGETS cardan EXPORT cardanTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set(cardan_has_record OFF)
if(TARGET cardan_record)  # cardan::record
  set(cardan_has_record ON)
  set_target_properties(cardan_record PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS cardan_record EXPORT cardanTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT development
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
install(EXPORT cardanTargets NAMESPACE cardan:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/cardan)

set(cardan_left_out)
if(NOT cardan_has_record)
  get_property(cardan_left_out GLOBAL PROPERTY CARDAN_RECORD_HEADERS)
  list(PREPEND cardan_left_out REGEX)
  list(APPEND cardan_left_out EXCLUDE)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${cardan_left_out})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/cardanConfig.cmake.in ${PROJECT_BINARY_DIR}/cardanConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/cardan NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cardanConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cardanConfig.cmake ${PROJECT_BINARY_DIR}/cardanConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/cardan)

# The prefix in cardan.pc follows the file, so an installed tree can be moved.
file(RELATIVE_PATH cardan_pc_to_prefix "/p/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/p")
string(REGEX REPLACE "/$" "" cardan_pc_to_prefix "${cardan_pc_to_prefix}")
# cardan-c.pc is for C: without the flag that names the standard of C++.
foreach(pc cardan cardan-c)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${pc}.pc.in ${PROJECT_BINARY_DIR}/${pc}.pc @ONLY)
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/cardan.pc ${PROJECT_BINARY_DIR}/cardan-c.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT license)

# The command: the one executable that is called `cardan`, whatever its target is called.
set(cardan_app_targets)
if(CARDAN_BUILD_APPS)
  get_property(cardan_app_targets DIRECTORY ${PROJECT_SOURCE_DIR}/apps PROPERTY BUILDSYSTEM_TARGETS)
endif()
foreach(target IN LISTS cardan_app_targets)
  get_target_property(type ${target} TYPE)
  get_target_property(name ${target} OUTPUT_NAME)
  if(type STREQUAL "EXECUTABLE" AND name STREQUAL "cardan")
    file(RELATIVE_PATH cardan_bin_to_lib "/p/${CMAKE_INSTALL_BINDIR}" "/p/${CMAKE_INSTALL_LIBDIR}")
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/${cardan_bin_to_lib}")
    install(TARGETS ${target} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
  endif()
endforeach()

# For editors: what a configuration may say.
install(FILES ${PROJECT_SOURCE_DIR}/src/config/cardan.schema.json ${PROJECT_SOURCE_DIR}/src/bridge/bridge.schema.json
  DESTINATION ${CMAKE_INSTALL_DATADIR}/cardan COMPONENT tools)

# Installs a program of libexec or a module that a program loads: (TARGET COMPONENT), where both exist.
function(cardan_install_part target component)
  if(NOT TARGET ${target} OR NOT CARDAN_BUILD_APPS)
    return()
  endif()
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/${cardan_libexec_to_lib}")
    install(TARGETS ${target} RUNTIME DESTINATION libexec/cardan COMPONENT ${component} OPTIONAL)
  else()
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/${cardan_private_to_lib}")
    install(TARGETS ${target} LIBRARY DESTINATION ${cardan_private_libdir} COMPONENT ${component} OPTIONAL)
  endif()
endfunction()
get_property(cardan_bridges GLOBAL PROPERTY CARDAN_BRIDGES)
foreach(kind IN LISTS cardan_bridges)
  cardan_install_part(cardan_bridge_${kind}_program bridge)
endforeach()
if(TARGET cardan_bridge_foxglove_program AND CARDAN_BUILD_APPS)  # of the libraries that are in the page
  install(FILES ${PROJECT_BINARY_DIR}/src/bridge/foxglove/page/licences.txt DESTINATION ${CMAKE_INSTALL_DATADIR}/cardan
    COMPONENT bridge RENAME page-licences.txt)
endif()
if(TARGET cardan_bridge_zenoh_program AND CARDAN_BUILD_APPS)
  # Cargo's: its search path has the library's place in a build tree and in an installed one.
  install(PROGRAMS ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/cardan-zenoh DESTINATION libexec/cardan COMPONENT bridge OPTIONAL)
endif()
cardan_install_part(cardan_bench_program bench)
cardan_install_part(cardan_bench_nodes bench)
cardan_install_part(cardan_protobuf tools)
# Parts that need OpenCV: `cardan bag export` of pictures, and `cardan demo`.
cardan_install_part(cardan_images opencv)
cardan_install_part(street_components opencv)
if(TARGET street_components AND CARDAN_BUILD_APPS)
  cardan_make_installed_street()
  install(FILES ${PROJECT_BINARY_DIR}/generated/street.json DESTINATION ${CMAKE_INSTALL_DATADIR}/cardan COMPONENT opencv)
endif()

if(CARDAN_BUILD_APPS)
  # Shell completions, each where its shell looks for it, and the manual pages.
  install(FILES ${PROJECT_BINARY_DIR}/generated/completion/cardan DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT tools OPTIONAL)
  install(FILES ${PROJECT_BINARY_DIR}/generated/completion/cardan.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT tools OPTIONAL)
  install(CODE "
    set(folder site-functions)
    if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\" AND EXISTS /etc/debian_version)
      set(folder vendor-completions)  # Debian's zsh does not look in /usr/share/zsh/site-functions
    endif()
    file(INSTALL \"${PROJECT_BINARY_DIR}/generated/completion/_cardan\"
         DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/zsh/\${folder}\" OPTIONAL)" COMPONENT tools)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/generated/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools
    FILES_MATCHING PATTERN "cardan*.1" PATTERN "cardan-bridge-*.1" EXCLUDE PATTERN "cardan-view.1" EXCLUDE)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/generated/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT bridge
    FILES_MATCHING PATTERN "cardan-bridge-*.1" PATTERN "cardan-view.1")

  # The run directory of all users, at each start of the computer, and a system of a configuration as a service. systemd reads
  # both below /usr and below /usr/local.
  install(FILES ${PROJECT_SOURCE_DIR}/packaging/cardan.tmpfiles DESTINATION lib/tmpfiles.d RENAME cardan.conf COMPONENT tools)
  install(CODE "
    set(CARDAN_COMMAND \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/cardan\")
    set(unit \"${PROJECT_BINARY_DIR}/generated/cardan@.service\")
    configure_file(\"${PROJECT_SOURCE_DIR}/packaging/cardan@.service.in\" \"\${unit}\" @ONLY)
    file(INSTALL \"\${unit}\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/lib/systemd/system\")" COMPONENT tools)
endif()

if(PROJECT_IS_TOP_LEVEL)
  include(CardanPackage)
endif()
