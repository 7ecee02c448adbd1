# trn_sources(OUT DIR PATTERN... [EXCLUDE REGEX]): the sources of a folder. They are globbed, not listed, because a new
# card, pass or lowering is one file: a list here would be a second place to edit (CONFIGURE_DEPENDS re-globs at build).
function(trn_sources out dir)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "EXCLUDE" "")
  list(TRANSFORM arg_UNPARSED_ARGUMENTS PREPEND ${PROJECT_SOURCE_DIR}/${dir}/)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${arg_UNPARSED_ARGUMENTS})
  if(arg_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "${arg_EXCLUDE}")
  endif()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

# trn_library(NAME [EXCLUDE REGEX] LINKS targets...): the current folder as a static, position-independent library.
# LINKS are the folders and libraries that it may see.
function(trn_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "EXCLUDE" "LINKS")
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE dir)
  trn_sources(sources ${dir} *.cpp EXCLUDE "${arg_EXCLUDE}")
  add_library(${name} STATIC ${sources})
  target_compile_options(${name} PRIVATE ${TRN_WARNINGS})
  target_link_libraries(${name} PUBLIC trn_options ${arg_LINKS})
endfunction()
