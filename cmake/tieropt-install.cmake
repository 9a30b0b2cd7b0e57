# SPDX-FileCopyrightText: 2026 The tieropt authors
# SPDX-License-Identifier: Apache-2.0

# Install rules: the headers, and a package for find_package(tieropt CONFIG).

include(CMakePackageConfigHelpers)

set(tieropt_install_dir share/cmake/tieropt)
configure_package_config_file(
  "${CMAKE_CURRENT_LIST_DIR}/tieropt-config.cmake.in" "${PROJECT_BINARY_DIR}/tieropt-config.cmake"
  INSTALL_DESTINATION ${tieropt_install_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/tieropt-config-version.cmake"
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)

install(TARGETS tieropt EXPORT tieropt-targets)
install(EXPORT tieropt-targets NAMESPACE tieropt:: DESTINATION ${tieropt_install_dir})
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/" DESTINATION include)
install(FILES "${PROJECT_BINARY_DIR}/tieropt-config.cmake"
              "${PROJECT_BINARY_DIR}/tieropt-config-version.cmake"
              "${CMAKE_CURRENT_LIST_DIR}/tieropt-cccl.cmake"
        DESTINATION ${tieropt_install_dir})
