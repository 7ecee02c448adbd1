# torch_neuronx/_C (backend/torch) and trnsim/_C (backend/python), where Python and the pinned torch are found.
# The repository's own .venv (made by ./dev) comes first, unless scikit-build-core or the caller names a Python.
if(NOT DEFINED Python_EXECUTABLE AND EXISTS ${PROJECT_SOURCE_DIR}/.venv/bin/python)
  set(Python_EXECUTABLE ${PROJECT_SOURCE_DIR}/.venv/bin/python)
endif()
find_package(Python 3.11 COMPONENTS Interpreter Development.Module)
if(Python_FOUND)
  # Located, not imported: importing torch would cost seconds and load this very plugin.
  execute_process(
    COMMAND ${Python_EXECUTABLE} -c "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
    OUTPUT_VARIABLE torch_dir OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT torch_dir)
  if(SKBUILD)
    message(FATAL_ERROR "The wheel needs Python >= 3.11 with torch: pip install torch first, see pyproject.toml.")
  endif()
  message(STATUS "Python with torch not found: no Python modules in this build")
  return()
endif()

# What torch.utils.cpp_extension links; TorchConfig.cmake would add only a warning about a missing kineto.
set(torch_includes ${torch_dir}/include ${torch_dir}/include/torch/csrc/api/include)
foreach(library IN ITEMS c10 torch_cpu torch torch_python)
  find_library(TORCH_${library} ${library} PATHS ${torch_dir}/lib NO_DEFAULT_PATH REQUIRED)
  list(APPEND torch_libraries ${TORCH_${library}})
endforeach()

# trn_python_module(TARGET PACKAGE DIR): PACKAGE/_C from the sources of DIR. torch's headers are not -Wpedantic clean,
# hence SYSTEM; both modules use the pybind11 inside the torch wheel, so that they share one type registry.
function(trn_python_module name package dir)
  trn_sources(sources ${dir} *.cpp)
  Python_add_library(${name} MODULE WITH_SOABI ${sources})
  set_target_properties(${name} PROPERTIES
    OUTPUT_NAME _C LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/python/${package}
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_include_directories(${name} SYSTEM PRIVATE ${torch_includes})
  target_compile_options(${name} PRIVATE ${TRN_WARNINGS})
  target_link_libraries(${name} PRIVATE trnsim nrt ${ARGN})
  install(TARGETS ${name} LIBRARY DESTINATION ${package})
endfunction()

trn_python_module(trnsim_python trnsim backend/python)
trn_python_module(torch_neuronx torch_neuronx backend/torch ${torch_libraries})
# Kineto's headers find each other from their own folder.
set_source_files_properties(backend/torch/profiler.cpp PROPERTIES INCLUDE_DIRECTORIES ${torch_dir}/include/kineto)
# Torch's headers take most of a file's compile time; one precompiled copy pays for itself at the third file.
target_precompile_headers(torch_neuronx PRIVATE <torch/extension.h>)
# The lowerings never see torch, and compile ten times as fast without it.
trn_sources(lowerings backend/torch/lowerings *.cpp)
set_source_files_properties(${lowerings} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
