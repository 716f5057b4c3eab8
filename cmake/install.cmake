# Install rules: headers, the CMake package, the pkg-config file. All of it is relocatable and does
# not depend on the architecture.
set(package_dir "${CMAKE_INSTALL_DATADIR}/cmake/allocscope")

install(DIRECTORY include/allocscope DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.schema.json")
install(TARGETS allocscope EXPORT allocscope_targets
        INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT allocscope_targets NAMESPACE allocscope:: FILE allocscope-targets.cmake
        DESTINATION "${package_dir}")

configure_package_config_file(cmake/allocscope-config.cmake.in allocscope-config.cmake
    INSTALL_DESTINATION "${package_dir}" PATH_VARS CMAKE_INSTALL_LIBDIR
    NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# While the version is 0.x a new minor version may change the interface.
write_basic_package_version_file(allocscope-config-version.cmake
    COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
file(GLOB ready_made_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/cmake/*.cpp")
install(FILES "${PROJECT_BINARY_DIR}/allocscope-config.cmake"
              "${PROJECT_BINARY_DIR}/allocscope-config-version.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/ready_made_targets.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/leak_checked_test.cmake" ${ready_made_sources}
        DESTINATION "${package_dir}")

file(RELATIVE_PATH prefix_from_pkgconfig
     "/prefix/${CMAKE_INSTALL_DATADIR}/pkgconfig" "/prefix")
configure_file(cmake/allocscope.pc.in allocscope.pc @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/allocscope.pc"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/pkgconfig")
