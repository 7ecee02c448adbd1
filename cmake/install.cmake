# The wheel's layout, relative to site-packages: trnsim/lib/ holds the shared libraries, the modules find them from
# where they stand ($ORIGIN), so nothing depends on where the wheel is unpacked.
set(TRN_LIB trnsim/lib)
foreach(library IN ITEMS trnsim nrt)
  if(TARGET ${library})
    set_target_properties(${library} PROPERTIES INSTALL_RPATH "$ORIGIN")
    install(TARGETS ${library} RUNTIME_DEPENDENCY_SET trn_bundled LIBRARY DESTINATION ${TRN_LIB})
  endif()
endforeach()
foreach(module IN ITEMS trnsim_python torch_neuronx)
  if(TARGET ${module})
    set_target_properties(${module} PROPERTIES INSTALL_RPATH "$ORIGIN/../${TRN_LIB};$ORIGIN/../torch/lib")
  endif()
endforeach()

# Highway, oneTBB and oneDNN travel with the wheel; libc, libstdc++ and libgomp belong to the system.
install(RUNTIME_DEPENDENCY_SET trn_bundled DESTINATION ${TRN_LIB}
        PRE_INCLUDE_REGEXES "^libhwy\\." "^libtbb\\." "^libdnnl\\." PRE_EXCLUDE_REGEXES ".*")
install(DIRECTORY backend/runtime/include/ DESTINATION trnsim/include OPTIONAL)
