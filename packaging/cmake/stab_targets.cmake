# The two shapes every folder uses: a library `stab_<name>` (alias Stab::<name>) and a unit test of it.

set(STAB_WARNINGS -Wall -Wextra -Wshadow -Wpedantic -Wnon-virtual-dtor)

# stab_library(name [KIND kind] SOURCES... ) makes the static library of a folder, of units of that kind (below; `library`).
# Headers are included from the repository root: #include "plan/schedule.h".
function(stab_library name)
  cmake_parse_arguments(ARG "" "KIND" "" ${ARGN})
  if(NOT ARG_KIND)
    set(ARG_KIND library)
  endif()
  add_library(stab_${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  add_library(Stab::${name} ALIAS stab_${name})
  target_include_directories(stab_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  stab_units(stab_${name} ${ARG_KIND})
endfunction()

# stab_unit_test(name LIBS... SOURCES...) makes one GoogleTest binary `name`, each TEST a ctest entry labelled `unit`. Part of
# `./check --fast`, so it stays under a few seconds.
function(stab_unit_test name)
  cmake_parse_arguments(ARG "" "" "LIBS;SOURCES" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${CMAKE_BINARY_DIR})  # the latter for tests/places.h
  stab_units(${name} ${STAB_TEST_KIND})
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} GTest::gmock GTest::gtest_main)
  include(GoogleTest)
  # Names without values: those of objects are bytes and addresses, and other ones in each run.
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST NO_PRETTY_VALUES PROPERTIES LABELS unit)
endfunction()

# Sanitizers reach every library and test of ours, never the runtime that is linked into measured
# programs (it replaces malloc and the unwinder's tables itself).
set(STAB_SANITIZE "" CACHE STRING "value of -fsanitize= for the asan, tsan and fuzz presets")
if(STAB_SANITIZE)
  # What UBSan finds ends the run too: a finding that is only printed is read by nobody.
  add_compile_options(-fsanitize=${STAB_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${STAB_SANITIZE})
endif()

# g++ does not collect garbage before its heap has 512 MiB, which few units come near to: that took 2 to 7 % of its time.
add_compile_options("$<$<COMPILE_LANG_AND_ID:CXX,GNU>:SHELL:--param ggc-min-heapsize=524288>")

# Most of a compilation would go to reading headers of the C++ library and of GoogleTest. They are precompiled once for each kind
# of unit: such headers serve only units that are compiled by the same options. A unit includes what it uses all the same, as
# packages, sanitizers and whoever debugs are built without. No header of ours is among them: each change of it would compile
# everything, and its path would keep a copy of the tree from finding anything in ccache.
if(CMAKE_BUILD_TYPE STREQUAL Debug)
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()
set(STAB_HEADERS <algorithm> <array> <atomic> <charconv> <chrono> <cmath> <condition_variable> <cstdint> <cstdio> <cstdlib>
  <cstring> <deque> <exception> <filesystem> <fstream> <functional> <iterator> <limits> <map> <memory> <mutex> <numeric>
  <optional> <set> <span> <sstream> <stdexcept> <string> <string_view> <thread> <tuple> <unordered_map> <utility> <variant>
  <vector>)

# stab_kind(kind [TESTS] [OPTIONS...]) is a kind of unit: options, and the headers compiled by them, with GoogleTest's for TESTS.
function(stab_kind kind)
  cmake_parse_arguments(ARG "TESTS" "" "" ${ARGN})
  set(source ${CMAKE_BINARY_DIR}/headers/none.cc)
  file(CONFIGURE OUTPUT ${source} CONTENT "// CMake precompiles no headers of a target without a source.\n")
  add_library(stab_headers_${kind} OBJECT EXCLUDE_FROM_ALL ${source})
  # RE2 brings -pthread, which units with the same headers need then. For the last two see ccache's manual, "Precompiled headers".
  target_compile_options(stab_headers_${kind} PUBLIC ${STAB_WARNINGS} ${ARG_UNPARSED_ARGUMENTS} -pthread
    $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess> "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
  target_precompile_headers(stab_headers_${kind} PRIVATE ${STAB_HEADERS})
  if(ARG_TESTS)
    target_link_libraries(stab_headers_${kind} PRIVATE GTest::gmock)
    target_precompile_headers(stab_headers_${kind} PRIVATE <gmock/gmock.h> <gtest/gtest.h>)
  endif()
  if(-fPIE IN_LIST ARG_UNPARSED_ARGUMENTS)  # as executables are compiled, which CMake does not do for a library
    set_target_properties(stab_headers_${kind} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  endif()
endfunction()

# A unit's own lines are few beside what it has in common with its neighbours: headers of ours, and templates of the C++ library for
# our records. Eight files are one unit in the preset `release`, which compiles them in half the time. The runtime's stay apart, as
# programs are measured with them; so do those of the other presets and of packages, which show that each file includes what it uses.
option(STAB_UNITY "compile eight files of a library, program or test at once" OFF)

# stab_units(target kind): the target's units are of a kind.
#
# Units include their files by paths from the root, which CMake's own UNITY_BUILD of this version can't: a copy of the tree finds
# them in ccache.
function(stab_units target kind)
  get_target_property(options stab_headers_${kind} INTERFACE_COMPILE_OPTIONS)
  target_compile_options(${target} PRIVATE ${options})
  target_precompile_headers(${target} REUSE_FROM stab_headers_${kind})
  if(STAB_UNITY AND NOT kind MATCHES "^(bare|test)$")
    # When all is said of the files. By EVAL, as DEFER would look at ${target} only then.
    cmake_language(EVAL CODE "cmake_language(DEFER CALL stab_join ${target})")
  endif()
endfunction()

# stab_join(target): eight of its files are one unit. Files with options of their own stay apart; so do other rooms', which come with
# absolute paths: whoever links both rooms takes the file from one, and nothing else with it.
function(stab_join target)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  get_target_property(files ${target} SOURCES)
  list(FILTER files EXCLUDE REGEX "^[/$]")
  set(joined)
  foreach(file ${files})
    get_source_file_property(options ${file} COMPILE_OPTIONS)
    get_source_file_property(definitions ${file} COMPILE_DEFINITIONS)
    if(NOT options AND NOT definitions)
      list(APPEND joined ${file})
    endif()
  endforeach()
  set_source_files_properties(${joined} PROPERTIES HEADER_FILE_ONLY ON)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  list(LENGTH joined length)
  foreach(begin RANGE 0 ${length} 8)
    if(begin LESS length)
      list(SUBLIST joined ${begin} 8 unit)
      list(TRANSFORM unit REPLACE "(.+)" "#include \"${folder}/\\1\"\n")
      list(JOIN unit "" includes)
      set(joint ${CMAKE_CURRENT_BINARY_DIR}/units/${target}_${begin}.cc)
      file(CONFIGURE OUTPUT ${joint} CONTENT "${includes}" @ONLY)
      target_sources(${target} PRIVATE ${joint})
    endif()
  endforeach()
endfunction()

# Rooms that read, write and ask spend no time that anybody would notice, and compile in three quarters of the time. Only the preset
# `release` does that: packages are built without a configuration.
# g++ 12 then warns of copies and uninitialized members in the C++ library that are none; packages, at -O2, keep those warnings.
set(STAB_LITTLE_OPTIMIZED "$<$<CONFIG:Release>:SHELL:-O1 -Wno-array-bounds -Wno-maybe-uninitialized>")
stab_kind(library ${STAB_LITTLE_OPTIMIZED})
stab_kind(program ${STAB_LITTLE_OPTIMIZED} -fPIE)
stab_kind(computing)
stab_kind(bare -fno-exceptions -fno-rtti)
