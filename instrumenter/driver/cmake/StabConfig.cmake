# find_package(Stab): makes single targets of a project movable, for projects that keep their compiler.
#
#   find_package(Stab REQUIRED)
#   stab_instrument(my_program)
#
# The compiler must be a clang that Stab is built for, as the pass is loaded into it. To build everything with szc instead, use
# the toolchain file next to this one: cmake --toolchain <prefix>/lib/cmake/Stab/stab-toolchain.cmake
get_filename_component(STAB_ROOT "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(STAB_SZC "${STAB_ROOT}/bin/szc")
set(STAB_SZCXX "${STAB_ROOT}/bin/szc++")
foreach(part "${STAB_SZC}" "${STAB_ROOT}/bin/stab-postlink" "${STAB_ROOT}/lib/stab/llvm/libstabpass.so"
    "${STAB_ROOT}/lib/stab/stabrt.o" "${STAB_ROOT}/lib/stab/stabnew.o")
  if(NOT EXISTS "${part}")
    set(Stab_FOUND FALSE)
    set(Stab_NOT_FOUND_MESSAGE "'${part}' is missing; build or install Stab again")
    return()
  endif()
endforeach()

# The LLVMs that Stab is built for, the default first.
file(REAL_PATH "${STAB_ROOT}/lib/stab/llvm" STAB_DEFAULT_LLVM)
file(GLOB STAB_LLVMS "${STAB_ROOT}/lib/stab/llvm-*")
list(REMOVE_ITEM STAB_LLVMS "${STAB_DEFAULT_LLVM}")
list(PREPEND STAB_LLVMS "${STAB_DEFAULT_LLVM}")
list(TRANSFORM STAB_LLVMS REPLACE ".*/llvm-" "")

# stab_version_of(compiler version, result): which of them the compiler is of; empty: of none.
function(stab_version_of compiler result)
  set(found "")
  foreach(version ${STAB_LLVMS})
    if(compiler STREQUAL version OR compiler MATCHES "^${version}\\." OR version MATCHES "^${compiler}[a-z]")
      set(found ${version})
    endif()
  endforeach()
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

# stab_instrument(target): compiles the target with Stab's pass, and lets szc link it. Libraries are compiled
# with the pass, too; what they are linked into becomes movable when that target is instrumented.
function(stab_instrument target)
  foreach(language C CXX)
    if(NOT CMAKE_${language}_COMPILER)
      continue()
    endif()
    stab_version_of("${CMAKE_${language}_COMPILER_VERSION}" version)
    if(NOT CMAKE_${language}_COMPILER_ID STREQUAL "Clang" OR version STREQUAL "")
      list(JOIN STAB_LLVMS " or " expected)
      list(GET STAB_LLVMS 0 default)
      message(FATAL_ERROR "stab_instrument(${target}): the ${language} compiler is "
        "${CMAKE_${language}_COMPILER_ID} ${CMAKE_${language}_COMPILER_VERSION}, expected Clang ${expected}; "
        "configure with -DCMAKE_${language}_COMPILER=clang-${default} or with the toolchain file stab-toolchain.cmake")
    endif()
  endforeach()
  target_compile_options(${target} PRIVATE "-fpass-plugin=${STAB_ROOT}/lib/stab/llvm-${version}/libstabpass.so" -ffunction-sections
    -falign-functions=16)
  target_include_directories(${target} SYSTEM PRIVATE "${STAB_ROOT}/include")
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE" OR type STREQUAL "SHARED_LIBRARY" OR type STREQUAL "MODULE_LIBRARY")
    # The link line stays the project's own; only its first word changes.
    set_target_properties(${target} PROPERTIES RULE_LAUNCH_LINK
      "\"${STAB_ROOT}/libexec/stab/link-with-szc\" \"${STAB_ROOT}/bin\" ${version}")
  endif()
endfunction()
