# Compiler and linker flags of the whole tree.

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor)
if(PANTO_WERROR)
  add_compile_options(-Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # At -O3 these flow analyses report false positives inside inlined Eigen kernels.
  add_compile_options(-Wno-error=maybe-uninitialized -Wno-error=array-bounds
                      -Wno-error=stringop-overflow -Wno-error=stringop-overread)
  # GCC 12 reports joined strings ("a" + name) as overlapping copies: its bug 105651.
  add_compile_options(-Wno-restrict)
  # Loops run over a handful of numbers, where vector code is mostly preparation; Eigen vectorises by itself.
  add_compile_options(-fno-tree-vectorize)
endif()
add_compile_options(-ffp-contract=fast)
if(PANTO_ARCH)
  add_compile_options("-march=${PANTO_ARCH}")
endif()
if(PANTO_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    add_compile_options(-fno-sanitize=pointer-overflow)  # Eigen's blocks of empty matrices
  endif()
  add_link_options(-fsanitize=address,undefined)
endif()

find_program(PANTO_CCACHE ccache)
if(PANTO_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths below the source tree count relative to it: checkouts of one user share what they have compiled.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
                                  CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros ${PANTO_CCACHE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-fpch-preprocess)  # so that ccache knows which precompiled headers were read
  else()
    add_compile_options("SHELL:-Xclang -fno-pch-timestamp")  # so that ccache keeps precompiled headers
  endif()
endif()
find_program(PANTO_LLD NAMES ld.lld)
if(PANTO_LLD)
  add_link_options(-fuse-ld=lld)
endif()
