# The command line. It gets the public header and the shared library, and so
# can do nothing that another program could not do as well.

file(GLOB sources CONFIGURE_DEPENDS cli/*.c)
if(NOT sources OR NOT TARGET lakestream_shared)
    return()
endif()

add_executable(lakestream ${sources})
target_link_libraries(lakestream PRIVATE
    lakestream_shared PkgConfig::JANSSON PkgConfig::NETTLE Threads::Threads)

cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR
    BASE_DIRECTORY ${CMAKE_INSTALL_FULL_BINDIR} OUTPUT_VARIABLE up)
set_target_properties(lakestream PROPERTIES INSTALL_RPATH "$ORIGIN/${up}")

install(TARGETS lakestream RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
