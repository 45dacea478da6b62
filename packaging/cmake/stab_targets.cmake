# The two shapes every folder uses: a library `stab_<name>` (alias Stab::<name>) and a unit test of it.

set(STAB_WARNINGS -Wall -Wextra -Wshadow -Wpedantic -Wnon-virtual-dtor)

# stab_library(name SOURCES... ) makes the static library of a folder. Headers are included from the
# repository root: #include "plan/schedule.h".
function(stab_library name)
  add_library(stab_${name} STATIC ${ARGN})
  add_library(Stab::${name} ALIAS stab_${name})
  target_include_directories(stab_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_compile_options(stab_${name} PRIVATE ${STAB_WARNINGS})
endfunction()

# stab_unit_test(name LIBS... SOURCES...) makes one GoogleTest binary `name`, each TEST a ctest entry
# labelled `unit`. Part of `./check --fast`, so it stays under a few seconds.
function(stab_unit_test name)
  cmake_parse_arguments(ARG "" "" "LIBS;SOURCES" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${CMAKE_BINARY_DIR})  # the latter for tests/places.h
  target_compile_options(${name} PRIVATE ${STAB_WARNINGS} ${STAB_TEST_OPTIONS})
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
