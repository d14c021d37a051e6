# Compiler settings shared by all our targets.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_compile_definitions(_GNU_SOURCE)

# -Wconversion without -Wsign-conversion: a silently cut 64-bit size is a bug
# in a file format; an int that indexes an array is not.
add_compile_options(
    -Wall -Wextra -Wshadow -Wundef -Wvla -Wformat=2 -Wpointer-arith
    -Wwrite-strings -Wstrict-prototypes -Wmissing-prototypes
    -Wold-style-definition -Wconversion -Wno-sign-conversion)

if(LKS_WERROR)
    add_compile_options(-Werror)
endif()

if(LKS_SANITIZE)
    # Instrumented code confuses gcc's flow analysis into false alarms; the
    # dev build gives the true ones.
    add_compile_options(
        -fsanitize=${LKS_SANITIZE} -fno-sanitize-recover=all
        -fno-omit-frame-pointer -Wno-maybe-uninitialized)
    add_link_options(-fsanitize=${LKS_SANITIZE})
endif()

if(LKS_FUZZ)
    if(NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
        message(FATAL_ERROR "LKS_FUZZ needs clang; use the fuzz preset")
    endif()
    add_compile_options(-fsanitize=fuzzer-no-link -Wno-unknown-warning-option)
endif()
