# find_package(Stab): makes single targets of a project movable, for projects that keep their compiler.
#
#   find_package(Stab REQUIRED)
#   stab_instrument(my_program)
#
# The compiler must be clang 19, as the pass plugin is loaded into it. To build everything with szc instead, use
# the toolchain file next to this one: cmake --toolchain <prefix>/lib/cmake/Stab/stab-toolchain.cmake
get_filename_component(STAB_ROOT "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(STAB_SZC "${STAB_ROOT}/bin/szc")
set(STAB_SZCXX "${STAB_ROOT}/bin/szc++")
foreach(part "${STAB_SZC}" "${STAB_ROOT}/bin/stab-postlink" "${STAB_ROOT}/lib/stab/libstabpass.so"
    "${STAB_ROOT}/lib/stab/stabrt.o" "${STAB_ROOT}/lib/stab/stabnew.o")
  if(NOT EXISTS "${part}")
    set(Stab_FOUND FALSE)
    set(Stab_NOT_FOUND_MESSAGE "'${part}' is missing; build or install Stab again")
    return()
  endif()
endforeach()

# stab_instrument(target): compiles the target with Stab's pass, and lets szc link it. Libraries are compiled
# with the pass, too; what they are linked into becomes movable when that target is instrumented.
function(stab_instrument target)
  foreach(language C CXX)
    if(NOT CMAKE_${language}_COMPILER)
      continue()
    endif()
    if(NOT CMAKE_${language}_COMPILER_ID STREQUAL "Clang" OR NOT CMAKE_${language}_COMPILER_VERSION MATCHES "^19\\.")
      message(FATAL_ERROR "stab_instrument(${target}): the ${language} compiler is "
        "${CMAKE_${language}_COMPILER_ID} ${CMAKE_${language}_COMPILER_VERSION}, expected Clang 19; "
        "configure with -DCMAKE_${language}_COMPILER=clang-19 or with the toolchain file stab-toolchain.cmake")
    endif()
  endforeach()
  target_compile_options(${target} PRIVATE "-fpass-plugin=${STAB_ROOT}/lib/stab/libstabpass.so" -ffunction-sections
    -falign-functions=16)
  target_include_directories(${target} SYSTEM PRIVATE "${STAB_ROOT}/include")
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE" OR type STREQUAL "SHARED_LIBRARY" OR type STREQUAL "MODULE_LIBRARY")
    # The link line stays the project's own; only its first word changes.
    set_target_properties(${target} PROPERTIES RULE_LAUNCH_LINK
      "\"${STAB_ROOT}/libexec/stab/link-with-szc\" \"${STAB_ROOT}/bin\"")
  endif()
endfunction()
