# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where, so that others find the library with find_package(cardan) or pkg-config.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS cardan EXPORT cardanTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set(cardan_has_record OFF)
if(TARGET cardan_record)  # cardan::record
  set(cardan_has_record ON)
  set_target_properties(cardan_record PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS cardan_record EXPORT cardanTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()
install(EXPORT cardanTargets NAMESPACE cardan:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/cardan)

set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/installed_headers.txt)
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/installed_headers.txt cardan_headers REGEX "^(public|detail) cardan/")
foreach(header IN LISTS cardan_headers)
  string(REGEX REPLACE "^[a-z]+ " "" header "${header}")
  if(header MATCHES "^cardan/(mcap|record)/" AND NOT cardan_has_record)
    continue()
  endif()
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
endforeach()

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

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

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
    install(TARGETS ${target} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()

# For editors: what a configuration may say.
install(FILES ${PROJECT_SOURCE_DIR}/cardan/config/cardan.schema.json ${PROJECT_SOURCE_DIR}/cardan/bridge/bridge.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/cardan)

# What `cardan bench runtime` and `cardan demo` run, and `cardan bag export` loads.
if(TARGET cardan_images AND cardan_app_targets)
  set_target_properties(cardan_images PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS cardan_images LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(TARGET cardan_bridge_dds_program AND cardan_app_targets)
  file(RELATIVE_PATH cardan_libexec_to_lib "/p/libexec/cardan" "/p/${CMAKE_INSTALL_LIBDIR}")
  set_target_properties(cardan_bridge_dds_program PROPERTIES INSTALL_RPATH "$ORIGIN/${cardan_libexec_to_lib}")
  install(TARGETS cardan_bridge_dds_program RUNTIME DESTINATION libexec/cardan OPTIONAL)
endif()
if(TARGET cardan_bridge_zenoh_program AND cardan_app_targets)
  file(RELATIVE_PATH cardan_libexec_to_lib "/p/libexec/cardan" "/p/${CMAKE_INSTALL_LIBDIR}")
  set_target_properties(cardan_bridge_zenoh_program PROPERTIES INSTALL_RPATH "$ORIGIN/${cardan_libexec_to_lib}")
  install(TARGETS cardan_bridge_zenoh_program RUNTIME DESTINATION libexec/cardan OPTIONAL)
  # Cargo's: its search path has the library's place in a build tree and in an installed one.
  install(PROGRAMS ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/cardan-zenoh DESTINATION libexec/cardan OPTIONAL)
endif()
if(TARGET cardan_bench_program AND cardan_app_targets)
  file(RELATIVE_PATH cardan_libexec_to_lib "/p/libexec/cardan" "/p/${CMAKE_INSTALL_LIBDIR}")
  set_target_properties(cardan_bench_program PROPERTIES INSTALL_RPATH "$ORIGIN/${cardan_libexec_to_lib}")
  install(TARGETS cardan_bench_program RUNTIME DESTINATION libexec/cardan OPTIONAL)
endif()
if(TARGET cardan_bridge_foxglove_program AND cardan_app_targets)
  file(RELATIVE_PATH cardan_libexec_to_lib "/p/libexec/cardan" "/p/${CMAKE_INSTALL_LIBDIR}")
  set_target_properties(cardan_bridge_foxglove_program PROPERTIES INSTALL_RPATH "$ORIGIN/${cardan_libexec_to_lib}")
  install(TARGETS cardan_bridge_foxglove_program RUNTIME DESTINATION libexec/cardan OPTIONAL)
endif()
if(TARGET cardan_bench_nodes AND cardan_app_targets)
  set_target_properties(cardan_bench_nodes PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS cardan_bench_nodes LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} OPTIONAL)
endif()
if(TARGET street_components AND cardan_app_targets)
  set_target_properties(street_components PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS street_components LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  # Installed, it stands beside its schema.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/demo/street.json)
  file(READ ${PROJECT_SOURCE_DIR}/demo/street.json cardan_street)
  string(REPLACE "../cardan/config/cardan.schema.json" "cardan.schema.json" cardan_street "${cardan_street}")
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/street.json CONTENT "${cardan_street}" @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/generated/street.json DESTINATION ${CMAKE_INSTALL_DATADIR}/cardan)
endif()

# Shell completions, each where its shell looks for it.
foreach(entry "cardan:bash-completion/completions" "_cardan:zsh/site-functions" "cardan.fish:fish/vendor_completions.d")
  string(REPLACE ":" ";" entry "${entry}")
  list(GET entry 0 file)
  list(GET entry 1 folder)
  install(FILES ${PROJECT_BINARY_DIR}/generated/completion/${file} DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder} OPTIONAL)
endforeach()
