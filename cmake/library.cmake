# liblakestream.so and liblakestream.a: every room in one library. Only what
# include/lakestream.h marks LKS_API leaves the shared one.

if(NOT LKS_ROOMS)
    return()
endif()

set(objects "")
set(libraries "")
foreach(room IN LISTS LKS_ROOMS)
    list(APPEND objects $<TARGET_OBJECTS:lks_${room}>)
    get_target_property(linked lks_${room} LINK_LIBRARIES)
    list(APPEND libraries ${linked})
endforeach()
list(FILTER libraries EXCLUDE REGEX "^lks_")
list(REMOVE_DUPLICATES libraries)

add_library(lakestream_shared SHARED ${objects})
add_library(lakestream_static STATIC ${objects})
set_target_properties(lakestream_shared lakestream_static PROPERTIES
    OUTPUT_NAME lakestream LINKER_LANGUAGE C)
set_target_properties(lakestream_shared PROPERTIES
    VERSION ${PROJECT_VERSION} SOVERSION 0)
target_link_libraries(lakestream_shared PRIVATE ${libraries})
target_include_directories(lakestream_shared PUBLIC
    ${PROJECT_SOURCE_DIR}/include)

set(LKS_PC_PRIVATE "libisal libprotobuf-c jansson libzstd liblz4")
foreach(module IN ITEMS CURL EXPAT NETTLE)
    if(TARGET PkgConfig::${module})
        string(APPEND LKS_PC_PRIVATE " ${${module}_MODULE_NAME}")
    endif()
endforeach()
# Relative, so that it is right wherever the whole is installed or moved.
file(RELATIVE_PATH LKS_PC_UP "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
configure_file(cmake/lakestream.pc.in lakestream.pc @ONLY)

install(TARGETS lakestream_shared lakestream_static
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.h")
install(FILES ${PROJECT_BINARY_DIR}/lakestream.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
