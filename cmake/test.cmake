# The whole test suite on a fresh Debian 12:
#
#     cmake -P cmake/test.cmake              every flavour
#     cmake -P cmake/test.cmake dev tsan     some
#     cmake -P cmake/test.cmake soak         each test for as long as it can be of use; also with
#                                            names of flavours behind it
#     cmake -P cmake/test.cmake mutants      no flavour: whether the tests can fail, see
#                                            tests/mutants/run.py; a mutant that lives has failed
#     cmake -P cmake/test.cmake programs     no flavour: everything in tests/programs, with more
#                                            Debian packages
#     cmake -P cmake/test.cmake shadow       no flavour: the tests of dev with every call of malloc
#                                            watched from outside, see tests/no_alloc/shadow.py;
#                                            each unlisted call of ours has failed
#
# Installs what is missing (as root), configures and builds each preset of CMakePresets.json below
# under build/, runs its tests, and ends with one line "N passed, N failed" over all flavours. A
# build that failed counts as one failed test. Exit code 0 only when nothing failed.
#
# Each phase says what it does and how far it is; the whole output of a build is in
# build/<flavour>/build.log.
cmake_minimum_required(VERSION 3.25)

set(flavours dev clang noframe asan tsan)
set(packages g++ clang clang-format-14 clang-tidy ninja-build doctest-dev libbenchmark-dev
    nlohmann-json3-dev libtinyxml2-dev libyaml-cpp-dev libre2-dev libc++-14-dev libc++abi-14-dev lld
    iso-codes valgrind python3 binutils dwz llvm-14 libclang-rt-14-dev pkg-config libgtest-dev
    catch2 libjemalloc2 libtcmalloc-minimal4 libmimalloc2.0
    # Libraries whose rows tests/own_lines looks at.
    libspdlog-dev libfmt-dev libpugixml-dev libabsl-dev libprotobuf-dev libboost-dev
    chromium  # opens the page, for tests/page/browser_test.py
    # Who reads what tests/formats writes.
    golang-1.19-go heaptrack nodejs python3-jsonschema libdevel-nytprof-perl
    g++-11 clang-16 clang-19)  # the oldest and the newest ones, for tests/linking/compile_matrix.py

# The libraries of tests/own_lines that take long to compile.
set(packages_of_soaks libcli11-dev libcereal-dev rapidjson-dev libeigen3-dev)

set(asked_for)
foreach(other IN ITEMS soak mutants programs shadow)
    set(${other} OFF)
endforeach()
math(EXPR last "${CMAKE_ARGC} - 1")
set(is_behind_script OFF)
foreach(index RANGE 0 ${last})
    set(argument "${CMAKE_ARGV${index}}")
    if(argument IN_LIST flavours)
        list(APPEND asked_for "${argument}")
    elseif(argument MATCHES "^(soak|mutants|programs|shadow)$")
        set(${argument} ON)
    elseif(is_behind_script)
        list(JOIN flavours ", " names)
        message(FATAL_ERROR "\"${argument}\" is nothing to test; there are the flavours ${names}, "
                            "and soak, mutants, programs, shadow")
    endif()
    if(argument MATCHES "test\\.cmake$")
        set(is_behind_script ON)
    endif()
endforeach()
if(asked_for OR mutants OR programs OR shadow)
    set(flavours ${asked_for})
endif()

get_filename_component(root "${CMAKE_CURRENT_LIST_DIR}" DIRECTORY)
if(soak)
    list(APPEND packages ${packages_of_soaks})
endif()
if(programs)
    foreach(list IN ITEMS exactness transparency same_run)
        file(STRINGS "${root}/tests/programs/${list}.toml" more REGEX "^package = ")
        list(TRANSFORM more REPLACE "^package = \"(.*)\"$" "\\1")
        string(REPLACE " " ";" more "${more}")
        list(APPEND packages ${more})
    endforeach()
    list(REMOVE_DUPLICATES packages)
endif()
cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
set(jobs ${cores})
if(DEFINED ENV{CMAKE_BUILD_PARALLEL_LEVEL})
    set(jobs "$ENV{CMAKE_BUILD_PARALLEL_LEVEL}")
endif()
# Some tests wait for what they have started.
math(EXPR test_jobs "${jobs} + 2")
set(passed 0)
set(failed 0)
set(failures)  # names, for the last lines

# To stdout, so that it stays in order with what the programs print.
function(say text)
    execute_process(COMMAND "${CMAKE_COMMAND}" -E echo "${text}")
endfunction()

macro(count_failure name)
    math(EXPR failed "${failed} + 1")
    list(APPEND failures "${name}")
endmacro()

# Adds up what a script has counted: its output is in `log` and has such a line.
macro(count_results log name_if_none)
    file(STRINGS "${log}" line REGEX "^[0-9]+ (passed|killed), [0-9]+ (failed|survived)")
    if(line MATCHES "^([0-9]+) [a-z]+, ([0-9]+) ")
        math(EXPR passed "${passed} + ${CMAKE_MATCH_1}")
        math(EXPR failed "${failed} + ${CMAKE_MATCH_2}")
    else()
        count_failure("${name_if_none}")
    endif()
endmacro()

# Packages: nothing is asked of the network when all are here.
find_program(dpkg_query dpkg-query)
if(dpkg_query)
    set(missing)
    foreach(package IN LISTS packages)
        execute_process(COMMAND "${dpkg_query}" -W "-f=\${Status}" "${package}"
                        OUTPUT_VARIABLE status ERROR_QUIET)
        if(NOT status STREQUAL "install ok installed")
            list(APPEND missing "${package}")
        endif()
    endforeach()
    # pkg-config is a name that other packages provide.
    find_program(pkg_config pkg-config)
    if(pkg_config)
        list(REMOVE_ITEM missing pkg-config)
    endif()
    if(missing)
        list(JOIN missing " " names)
        execute_process(COMMAND id -u OUTPUT_VARIABLE user OUTPUT_STRIP_TRAILING_WHITESPACE)
        if(user STREQUAL "0")
            say("-- installing ${names}")
            set(ENV{DEBIAN_FRONTEND} noninteractive)
            execute_process(COMMAND apt-get update -q)
            execute_process(COMMAND apt-get install -q -y --no-install-recommends ${missing}
                            RESULT_VARIABLE failure)
            if(failure)
                count_failure("apt-get install ${names}")
            endif()
        else()
            say("-- these packages are missing and only root can install them: ${names}")
            say("-- fix: sudo apt-get install ${names}")
            count_failure("packages are missing: ${names}")
        endif()
    endif()
endif()

# Debian installs the headers of one libc++ at a time, and those of version 14 are for clang++. To
# read those of version 19 it is enough that they lie in a folder. Without them one case less runs.
set(unpacked "${root}/build/unpacked_packages")
find_program(apt_get apt-get)
find_program(dpkg_deb dpkg-deb)
if(apt_get AND dpkg_deb AND NOT EXISTS "${unpacked}/usr")
    say("-- unpacking the headers of libc++-19-dev under build/")
    file(MAKE_DIRECTORY "${unpacked}")
    execute_process(COMMAND "${apt_get}" download -q libc++-19-dev WORKING_DIRECTORY "${unpacked}"
                    OUTPUT_QUIET ERROR_QUIET)
    file(GLOB archives "${unpacked}/libc++-19-dev_*.deb")
    foreach(archive IN LISTS archives)
        execute_process(COMMAND "${dpkg_deb}" -x "${archive}" "${unpacked}")
    endforeach()
endif()
# speedscope is a page for browsers; tests/formats runs its importers in node. Without it one test
# less runs.
find_program(npm npm)
if(npm AND NOT EXISTS "${unpacked}/node_modules/speedscope")
    say("-- unpacking speedscope under build/")
    file(MAKE_DIRECTORY "${unpacked}")
    execute_process(COMMAND "${npm}" install --prefix "${unpacked}" --no-save --ignore-scripts
                            --omit=optional speedscope@1.25.0
                    OUTPUT_QUIET ERROR_QUIET)
endif()
set(ENV{ALLOCSCOPE_UNPACKED_PACKAGES} "${unpacked}")

# ThreadSanitizer of these compilers needs its fixed address ranges free; a kernel that places
# programs with more random bits than they know stops it at once. setarch -R switches that off.
set(without_random_addresses)
find_program(setarch setarch)
if(setarch)
    execute_process(COMMAND "${setarch}" -R true RESULT_VARIABLE failure OUTPUT_QUIET ERROR_QUIET)
    if(NOT failure)
        set(without_random_addresses "${setarch}" -R)
    endif()
endif()

# All flavours together leave 3 GB under build/. On a full disk everything fails in its own way.
if(flavours AND NOT asked_for)
    set(needed_mb 3500)
    file(MAKE_DIRECTORY "${root}/build")
    execute_process(COMMAND df -Pk "${root}/build" OUTPUT_VARIABLE disk ERROR_QUIET)
    if(disk MATCHES "\n[^ ]+ +[0-9]+ +[0-9]+ +([0-9]+) ")
        math(EXPR free_mb "${CMAKE_MATCH_1} / 1024")
        file(GLOB built "${root}/build/*/build.ninja")
        if(free_mb LESS needed_mb AND NOT built)
            say("-- ${free_mb} MB are free at ${root}/build, and ${needed_mb} MB are needed:")
            say("-- fix: make room, or name some flavours, as in `cmake -P cmake/test.cmake dev`")
        endif()
    endif()
endif()

set(show_progress sh "${root}/cmake/scripts/build_progress.sh")

string(TIMESTAMP first_second "%s")
set(flavour_number 0)
list(LENGTH flavours flavour_count)
foreach(flavour IN LISTS flavours)
    set(folder "${root}/build/${flavour}")
    string(TIMESTAMP start "%s")
    math(EXPR flavour_number "${flavour_number} + 1")
    set(title "${flavour} (${flavour_number} of ${flavour_count})")
    say("== ${title}: configure")
    # Who works in dev compiles each file by itself, and so does tests/mutants/run.py. Here it takes
    # half the time to compile them together, as the other presets do.
    set(together)
    if(flavour STREQUAL "dev")
        set(together -D ALLOCSCOPE_TEST_FILES_TOGETHER=12 -D ALLOCSCOPE_ROOMS_TOGETHER=ON)
    endif()
    # --fresh: what an older run remembered, perhaps under another path, is not believed.
    execute_process(COMMAND "${CMAKE_COMMAND}" --fresh --preset ${flavour}
                            -D ALLOCSCOPE_SOAK=${soak} ${together}
                    WORKING_DIRECTORY "${root}"
                    RESULT_VARIABLE failure OUTPUT_VARIABLE log ERROR_VARIABLE log)
    if(failure)
        say("${log}")
        count_failure("${flavour}: configure")
        continue()
    endif()
    # Everything that can be built is built; what could not be is named below.
    say("== ${title}: build, ${jobs} jobs at a time")
    execute_process(COMMAND "${CMAKE_COMMAND}" --build "${folder}" -j ${jobs} -- -k 0
                    COMMAND ${show_progress} "${folder}/build.log"
                    RESULTS_VARIABLE failures_of_build)
    list(GET failures_of_build 0 failure)
    if(failure)
        file(READ "${folder}/build.log" log)
        say("${log}")
        string(REGEX MATCHALL "FAILED: [^\n]+" broken "${log}")
        if(broken)
            foreach(name IN LISTS broken)
                string(REPLACE "FAILED: " "" name "${name}")
                count_failure("${flavour}: build of ${name}")
            endforeach()
        else()
            count_failure("${flavour}: build")
        endif()
    endif()

    string(TIMESTAMP built "%s")
    math(EXPR build_seconds "${built} - ${start}")
    say("== ${title}: built in ${build_seconds} s; test, ${test_jobs} at a time")
    set(wrapper)
    if(flavour STREQUAL "tsan")
        set(wrapper ${without_random_addresses})
    endif()
    set(report "${folder}/junit.xml")
    set(failed_log "${folder}/Testing/Temporary/LastTestsFailed.log")
    file(REMOVE "${report}" "${failed_log}")
    execute_process(COMMAND ${wrapper} "${CMAKE_CTEST_COMMAND}" --test-dir "${folder}"
                            -j ${test_jobs} --output-on-failure --no-tests=error --timeout 1200
                            --output-junit "${report}")
    if(EXISTS "${report}")
        # "notrun" is a test whose program is missing, and also one that said it cannot run here.
        file(STRINGS "${report}" run REGEX "^\t<testcase .* status=\"run\"")
        file(STRINGS "${report}" not_run REGEX "^\t<testcase .* status=\"(fail|notrun)\"")
        file(STRINGS "${report}" skipped REGEX "^\t\t<skipped message=\"SKIP_RETURN_CODE")
        list(LENGTH run run)
        list(LENGTH not_run not_run)
        list(LENGTH skipped skipped)
        math(EXPR passed "${passed} + ${run}")
        math(EXPR failed "${failed} + ${not_run} - ${skipped}")
        if(EXISTS "${failed_log}")
            file(STRINGS "${failed_log}" names)
            list(TRANSFORM names REPLACE "^[0-9]+:" "${flavour}: ")
            list(APPEND failures ${names})
        endif()
        set(summary "${run} passed, ${skipped} cannot run here")
    else()
        count_failure("${flavour}: ctest")
        set(summary "ctest wrote no report")
    endif()
    string(TIMESTAMP now "%s")
    math(EXPR test_seconds "${now} - ${built}")
    say("== ${title}: tested in ${test_seconds} s: ${summary}")
endforeach()

if(mutants)
    say("== mutants")
    file(MAKE_DIRECTORY "${root}/build")
    set(log "${root}/build/mutants.log")
    execute_process(COMMAND python3 "${root}/tests/mutants/run.py" --jobs ${jobs}
                    COMMAND tee "${log}")
    file(STRINGS "${log}" names REGEX "[|] (SURVIVED|NOT BUILT)")
    list(APPEND failures ${names})
    count_results("${log}" "mutants: the tests do not pass without them")
endif()

if(programs)
    say("== programs: build allocscope")
    set(folder "${root}/build/programs")
    execute_process(COMMAND "${CMAKE_COMMAND}" --fresh -S "${root}" -B "${folder}"
                            -D ALLOCSCOPE_DEVELOPER_MODE=OFF OUTPUT_QUIET)
    execute_process(COMMAND "${CMAKE_COMMAND}" --build "${folder}" -j ${jobs}
                    RESULT_VARIABLE failure OUTPUT_QUIET)
    if(failure)
        count_failure("programs: build of allocscope")
    endif()
    set(ENV{ALLOCSCOPE} "${folder}/tools/allocscope")
    foreach(part IN ITEMS exactness transparency hazards same_run)
        say("== programs: ${part}")
        set(arguments)
        if(part STREQUAL "hazards")
            set(arguments --full)
        endif()
        set(log "${folder}/${part}.log")
        execute_process(COMMAND python3 "${root}/tests/programs/${part}.py" ${arguments}
                        COMMAND tee "${log}")
        count_results("${log}" "programs: ${part} came to no end")
        file(STRINGS "${log}" names REGEX "[|] failed [|]|^different |^wrong ")
        list(APPEND failures ${names})
    endforeach()
endif()

if(shadow)
    say("== shadow: build dev")
    set(folder "${root}/build/dev")
    execute_process(COMMAND "${CMAKE_COMMAND}" --preset dev WORKING_DIRECTORY "${root}"
                    OUTPUT_QUIET)
    execute_process(COMMAND "${CMAKE_COMMAND}" --build "${folder}" -j ${jobs} -- -k 0
                    RESULT_VARIABLE failure OUTPUT_QUIET)
    if(failure)
        count_failure("shadow: build of dev")
    endif()
    set(log "${folder}/shadow.log")
    execute_process(COMMAND python3 "${root}/tests/no_alloc/shadow.py" "${folder}"
                            "${folder}/tests/no_alloc/liballocscope_shadow.so" --ctest
                    COMMAND tee "${log}")
    count_results("${log}" "shadow came to no end")
    file(STRINGS "${log}" names REGEX "^  .* reaches |[*][*][*]")
    list(APPEND failures ${names})
endif()

string(TIMESTAMP now "%s")
math(EXPR total_seconds "${now} - ${first_second}")
say("== all together: ${total_seconds} s")
if(failed GREATER 0)
    list(JOIN failures "\n  " names)
    say("failed:\n  ${names}")
    message(SEND_ERROR "${failed} failed")  # for the exit code; it goes to stderr
endif()
say("${passed} passed, ${failed} failed")
