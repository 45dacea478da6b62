# cmake --toolchain <prefix>/lib/cmake/Stab/stab-toolchain.cmake: builds a whole project with szc and szc++.
get_filename_component(STAB_ROOT "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(CMAKE_C_COMPILER "${STAB_ROOT}/bin/szc")
set(CMAKE_CXX_COMPILER "${STAB_ROOT}/bin/szc++")
# For clang CMake takes llvm-strip, which removes what post-link has written.
find_program(CMAKE_STRIP strip)
