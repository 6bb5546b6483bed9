# SPDX-License-Identifier: Apache-2.0
# The contents of the wheel of the Python package, in addition to Python's own files: the extensions, the libraries, and the command with its parts below
# cardan/_command, where they find each other as in any installation. Libraries are there once. See python/pyproject.toml.
set(cardan_wheel_parts cardan_python_extension)
set_target_properties(cardan PROPERTIES VERSION 0)  # one file: a wheel has no symbolic links
install(TARGETS cardan_python_extension LIBRARY DESTINATION cardan COMPONENT python)
install(TARGETS cardan LIBRARY DESTINATION cardan COMPONENT python NAMELINK_SKIP)
if(TARGET cardan_python_record)
  list(APPEND cardan_wheel_parts cardan_python_record)
  set_target_properties(cardan_record PROPERTIES VERSION 0 INSTALL_RPATH "$ORIGIN")
  install(TARGETS cardan_python_record LIBRARY DESTINATION cardan COMPONENT python)
  install(TARGETS cardan_record LIBRARY DESTINATION cardan COMPONENT python NAMELINK_SKIP)
endif()

# In the wheel's top folder, so that the command starts without an import of the package.
install(FILES python/_cardan_command.py DESTINATION . COMPONENT python)
if(TARGET cardan_command)
  set(command cardan/_command)
  foreach(target cardan_command cardan_bridge_foxglove_program street_components)
    if(TARGET ${target})
      list(APPEND cardan_wheel_parts ${target})
      set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/../..")
      install(TARGETS ${target} RUNTIME DESTINATION ${command}/bin COMPONENT python LIBRARY DESTINATION ${command}/lib COMPONENT python)
    else()
      message(STATUS "not in the wheel: ${target}")
    endif()
  endforeach()
  if(TARGET cardan_bridge_foxglove_program)  # of the libraries that are in the page
    install(FILES ${PROJECT_BINARY_DIR}/src/bridge/foxglove/page/licences.txt DESTINATION ${command}/share/cardan COMPONENT python
      RENAME page-licences.txt)
  endif()
  install(FILES src/config/cardan.schema.json src/bridge/bridge.schema.json DESTINATION ${command}/share/cardan COMPONENT python)
  if(TARGET street_components)
    cardan_make_installed_street()
    install(FILES ${PROJECT_BINARY_DIR}/generated/street.json DESTINATION ${command}/share/cardan COMPONENT python)
  endif()
endif()
add_custom_target(cardan_python_wheel DEPENDS ${cardan_wheel_parts})
