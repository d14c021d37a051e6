# What we link to. docs/decisions/ argues for each.

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

pkg_check_modules(ISAL REQUIRED IMPORTED_TARGET libisal)
pkg_check_modules(PROTOBUF_C REQUIRED IMPORTED_TARGET libprotobuf-c)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(LZ4 REQUIRED IMPORTED_TARGET liblz4)
pkg_check_modules(NETTLE REQUIRED IMPORTED_TARGET nettle)

find_program(LKS_PROTOC_C protoc-c REQUIRED)

# The distribution's Python before any other that the PATH may offer.
find_program(LKS_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(LKS_PYTHON python3)

# A store asks for its own libraries, so that a build without it needs none.
set(LKS_STORE_LIBRARIES "")
if(EXISTS ${PROJECT_SOURCE_DIR}/src/store/s3_http.c)
    pkg_check_modules(CURL REQUIRED IMPORTED_TARGET libcurl)
    list(APPEND LKS_STORE_LIBRARIES PkgConfig::CURL)
endif()
if(EXISTS ${PROJECT_SOURCE_DIR}/src/store/s3_sign.c)
    list(APPEND LKS_STORE_LIBRARIES PkgConfig::NETTLE)
endif()
if(EXISTS ${PROJECT_SOURCE_DIR}/src/store/s3_xml.c)
    pkg_check_modules(EXPAT REQUIRED IMPORTED_TARGET expat)
    list(APPEND LKS_STORE_LIBRARIES PkgConfig::EXPAT)
endif()
if(EXISTS ${PROJECT_SOURCE_DIR}/src/store/credentials_fetch.c)
    list(APPEND LKS_STORE_LIBRARIES PkgConfig::JANSSON)
endif()
