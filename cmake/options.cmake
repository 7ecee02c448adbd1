# Flags that every target shares, and the compiler cache.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

add_library(trn_options INTERFACE)
target_include_directories(trn_options INTERFACE ${PROJECT_SOURCE_DIR})

# A designated initialiser names what it sets; the rest is the member's default. GCC 12's bound checkers
# cry wolf at "literal" + std::string (GCC bug 105651).
set(TRN_WARNINGS -Wall -Wextra -Wpedantic -Werror -Wno-missing-field-initializers
    -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow)
# Same bits on every machine: no contraction to FMA behind our back. Neither errno nor FP traps are read anywhere.
set(TRN_MATH -ffp-contract=off -fno-math-errno -fno-trapping-math)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(TRN_BASELINE -march=x86-64-v2)  # wider vectors are chosen at run time (Highway)
endif()
add_compile_options(${TRN_BASELINE} ${TRN_MATH})

if(TRN_SANITIZE)
  add_compile_options(-fsanitize=${TRN_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TRN_SANITIZE})
  list(APPEND TRN_WARNINGS -Wno-maybe-uninitialized)  # GCC bug 105562: false with -fsanitize=address, as GCC's manual warns
endif()

if(TRN_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
  set(TRN_WARNINGS "")  # clang has others; g++ is the judge
endif()

find_program(TRN_CCACHE ccache)
if(TRN_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # The base directory lets another clone hit the same cache; the rest is what ccache needs for precompiled headers.
  set(launcher env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${TRN_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()
