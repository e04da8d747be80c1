# find_package(Pantograph) for outside projects.
include(CMakePackageConfigHelpers)

set(panto_config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Pantograph")
install(
  EXPORT PantographTargets
  NAMESPACE panto::
  DESTINATION "${panto_config_dir}")
configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/PantographConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/PantographConfig.cmake" INSTALL_DESTINATION "${panto_config_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/PantographConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(
  FILES "${PROJECT_BINARY_DIR}/PantographConfig.cmake"
        "${PROJECT_BINARY_DIR}/PantographConfigVersion.cmake"
        "${PROJECT_SOURCE_DIR}/cmake/PantoDependencies.cmake"
  DESTINATION "${panto_config_dir}")
