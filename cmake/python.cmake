# The extension module lakestream._core, on the public header like every other
# program. `pip install ./python` comes here as well (python/pyproject.toml):
# then only the module and the library within it are built.
#
# The wheel carries the library: it is linked statically, and nothing of it is
# seen from outside. One wheel serves Python 3.11 and all later ones (abi3).

option(LKS_WHEEL "Build the Python module only" OFF)

file(GLOB sources CONFIGURE_DEPENDS python/*.c)
if(NOT sources OR NOT TARGET lakestream_static OR LKS_SANITIZE OR LKS_FUZZ)
    return()
endif()

# The distribution's own Python before any other that the PATH may offer; pip
# says itself which one it builds for.
if(NOT LKS_WHEEL)
    set(Python_EXECUTABLE ${LKS_PYTHON})
endif()
find_package(Python 3.11 COMPONENTS Interpreter Development.Module)
if(NOT Python_Development.Module_FOUND)
    message(STATUS "No Python headers: the Python package is not built")
    return()
endif()

add_library(python_core MODULE ${sources})
target_include_directories(python_core PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_include_directories(python_core SYSTEM PRIVATE ${Python_INCLUDE_DIRS})
target_link_libraries(python_core PRIVATE lakestream_static ${libraries})
target_link_options(python_core PRIVATE -Wl,--exclude-libs,ALL)
set_target_properties(python_core PROPERTIES
    PREFIX "" OUTPUT_NAME _core SUFFIX .abi3.so
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/python/lakestream)

if(LKS_WHEEL)
    install(TARGETS python_core LIBRARY DESTINATION lakestream
        COMPONENT python)
    install(DIRECTORY python/lakestream/ DESTINATION lakestream
        COMPONENT python FILES_MATCHING
        PATTERN "*.py" PATTERN "*.pyi" PATTERN "py.typed")
endif()
