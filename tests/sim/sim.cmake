# The simulator, and its mutants: the same with one rule of the protocol taken
# out of a copy of the product's source. Each must be caught.
#
#   sim.quick               a few seeds
#   sim.twice               the same seeds twice (slow)
#   sim.1000                a thousand seeds of everything (slow)
#   sim.scenario.<name>     some seeds of one hazard (slow)
#   sim.mutant.<name>       its scenario breaks the invariant it names (slow)
#   sim.model               the rules alone, in every order (slow)
#
# mutants/<name>.mutant has the reason, the scenario, the invariant and the
# change. There is nothing to gain under the thread sanitizer: one fiber runs
# at a time.

if(NOT TARGET lks_api OR LKS_SANITIZE MATCHES "thread")
    return()
endif()

set(LKS_SIM_DIR ${CMAKE_CURRENT_LIST_DIR})
set(LKS_SIM_MUTANT_SEEDS 1-300)

file(GLOB sources CONFIGURE_DEPENDS ${LKS_SIM_DIR}/*.c)
add_library(sim_objects OBJECT ${sources})
target_include_directories(sim_objects PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(sim_objects PUBLIC lks_api m)

add_executable(sim $<TARGET_OBJECTS:sim_objects>)
target_link_libraries(sim PRIVATE lks_api m)

lks_add_test(sim.quick quick sim --seeds 1-12 -j2)
lks_add_test(sim.twice "slow;sanitize" sim --seeds 1-8 -j2 --twice)
lks_add_test(sim.1000 slow sim --seeds 1-1000 -j2)

set(names "")
foreach(file sim_scenarios.c sim_life_scenarios.c)
    file(STRINGS ${LKS_SIM_DIR}/${file} found REGEX "^    {\"[a-z_0-9]+\", ")
    list(APPEND names ${found})
endforeach()
foreach(name IN LISTS names)
    string(REGEX REPLACE "^    {\"([a-z_0-9]+)\".*" "\\1" name "${name}")
    lks_add_test(sim.scenario.${name} slow
        sim --scenario ${name} --seeds 1-30 -j2)
endforeach()

# Naive ways to reclaim, which stand outside the product, are caught too.
lks_add_test(sim.rule.eager slow sim --scenario fooled_reader --rule eager
    --seeds ${LKS_SIM_MUTANT_SEEDS} -j2 --expect 1)
lks_add_test(sim.rule.own slow sim --scenario slow_puts --rule own
    --seeds ${LKS_SIM_MUTANT_SEEDS} -j2 --expect 1)

# The line "<key>: <value>" of a mutant, or all of them.
function(lks_mutant_values mutant key out)
    file(STRINGS ${mutant} lines REGEX "^${key}: ")
    list(TRANSFORM lines REPLACE "^${key}: " "")
    set(${out} ${lines} PARENT_SCOPE)
endfunction()

function(lks_sim_mutant mutant)
    cmake_path(GET mutant STEM name)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${mutant})
    lks_mutant_values(${mutant} scenario scenario)
    lks_mutant_values(${mutant} breaks breaks)
    lks_mutant_values(${mutant} file files)
    set(mutated "")
    foreach(file IN LISTS files)
        set(output ${CMAKE_CURRENT_BINARY_DIR}/mutants/${name}/${file})
        add_custom_command(
            OUTPUT ${output}
            COMMAND ${LKS_PYTHON} ${LKS_SIM_DIR}/mutate.py
                ${mutant} ${file} ${PROJECT_SOURCE_DIR} ${output}
            DEPENDS ${mutant} ${LKS_SIM_DIR}/mutate.py
                ${PROJECT_SOURCE_DIR}/${file}
            COMMENT "Mutating ${file}: ${name}"
            VERBATIM)
        list(APPEND mutated ${output})
    endforeach()
    set_source_files_properties(${mutated} PROPERTIES COMPILE_OPTIONS -w)
    # Before the rooms, so that these and not theirs are linked.
    add_executable(sim_${name} $<TARGET_OBJECTS:sim_objects> ${mutated})
    target_include_directories(sim_${name} SYSTEM PRIVATE
        ${LKS_GENERATED_DIR} ${LKS_GENERATED_DIR}/format)
    target_link_libraries(sim_${name} PRIVATE lks_api m)
    set(label slow)
    if(name STREQUAL "canary")
        set(label quick)
    endif()
    lks_add_test(sim.mutant.${name} ${label} sim_${name}
        --scenario ${scenario} --seeds ${LKS_SIM_MUTANT_SEEDS} -j2
        --expect ${breaks})
endfunction()

file(GLOB mutants CONFIGURE_DEPENDS ${LKS_SIM_DIR}/mutants/*.mutant)
foreach(mutant IN LISTS mutants)
    lks_sim_mutant(${mutant})
endforeach()

# What trusts a name too long is caught behind the product's own reclaim, too.
foreach(pair trusted_writer:4 created_is_committed:4 local_clock:1
        trusted_for_ever:1)
    string(REGEX MATCH "^(.*):(.)$" pair ${pair})
    lks_add_test(sim.reclaimed.${CMAKE_MATCH_1} slow sim_${CMAKE_MATCH_1}
        --scenario reclaimed_name --seeds ${LKS_SIM_MUTANT_SEEDS} -j2
        --expect ${CMAKE_MATCH_2})
endforeach()

# The rules as a model, searched to the end; see docs/model/commit.pml.
find_program(LKS_SPIN spin)
if(LKS_SPIN)
    lks_add_test(sim.model slow ${LKS_BASH} ${LKS_SIM_DIR}/check_model.sh
        ${PROJECT_SOURCE_DIR}/docs/model/commit.pml)
else()
    message(STATUS "spin is not installed: no test sim.model")
endif()
