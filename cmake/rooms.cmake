# lks_room(NAME [BELOW room...] [LINK library...] [SOURCES pattern...])
#
# Makes the static library lks_NAME from src/NAME/*.c and src/NAME/*.proto. A
# room without sources yet is skipped, and so is every mention of it.
#
# It is also linked once on its own, with nothing but the rooms below it and
# no undefined symbol allowed. That is where an upward call fails.

set(LKS_ROOMS "")
set(LKS_GENERATED_DIR ${PROJECT_BINARY_DIR}/generated)

function(lks_room room)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "BELOW;LINK;SOURCES")
    if(NOT arg_SOURCES)
        set(arg_SOURCES src/${room}/*.c)
    endif()
    file(GLOB sources CONFIGURE_DEPENDS ${arg_SOURCES})
    file(GLOB protos CONFIGURE_DEPENDS src/${room}/*.proto)
    if(NOT sources)
        return()
    endif()

    set(below "")
    foreach(lower IN LISTS arg_BELOW)
        if(TARGET lks_${lower})
            list(APPEND below lks_${lower})
        endif()
    endforeach()

    lks_generate(${room} generated ${protos})
    add_library(lks_${room} STATIC ${sources} ${generated})
    target_include_directories(lks_${room} PUBLIC
        ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
    if(generated)
        target_include_directories(lks_${room} SYSTEM PRIVATE
            ${LKS_GENERATED_DIR} ${LKS_GENERATED_DIR}/${room})
    endif()
    target_link_libraries(lks_${room} PUBLIC ${below} ${arg_LINK})

    if(NOT LKS_SANITIZE)
        add_library(lks_${room}_closed MODULE $<TARGET_OBJECTS:lks_${room}>)
        set_target_properties(lks_${room}_closed PROPERTIES
            LINKER_LANGUAGE C
            LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/closed)
        target_link_libraries(lks_${room}_closed PRIVATE
            ${below} ${arg_LINK})
        target_link_options(lks_${room}_closed PRIVATE -Wl,-z,defs)
    endif()

    set(LKS_ROOMS ${LKS_ROOMS} ${room} PARENT_SCOPE)
endfunction()

# Compiles each .proto into the build tree: "<room>/<name>.pb-c.h". Nobody
# reads that code, so it is compiled without our warnings.
function(lks_generate room out_sources)
    set(generated "")
    foreach(proto IN LISTS ARGN)
        cmake_path(GET proto STEM name)
        set(stem ${LKS_GENERATED_DIR}/${room}/${name}.pb-c)
        file(MAKE_DIRECTORY ${LKS_GENERATED_DIR}/${room})
        add_custom_command(
            OUTPUT ${stem}.c ${stem}.h
            COMMAND ${LKS_PROTOC_C}
                --c_out=${LKS_GENERATED_DIR}/${room}
                --proto_path=${PROJECT_SOURCE_DIR}/src/${room} ${proto}
            DEPENDS ${proto}
            COMMENT "Generating ${room}/${name}.pb-c.c"
            VERBATIM)
        set_source_files_properties(${stem}.c PROPERTIES COMPILE_OPTIONS -w)
        list(APPEND generated ${stem}.c ${stem}.h)
    endforeach()
    set(${out_sources} ${generated} PARENT_SCOPE)
endfunction()
