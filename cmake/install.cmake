# The wheel's layout, relative to site-packages: trnsim/lib/ holds the shared libraries, the modules find them from
# where they stand ($ORIGIN), so nothing depends on where the wheel is unpacked.
set(TRN_LIB trnsim/lib)
foreach(library IN ITEMS trnsim nrt)
  if(TARGET ${library})
    set_target_properties(${library} PROPERTIES INSTALL_RPATH "$ORIGIN")
    install(TARGETS ${library} LIBRARY DESTINATION ${TRN_LIB})
  endif()
endforeach()
foreach(module IN ITEMS trnsim_python torch_neuronx)
  if(TARGET ${module})
    set_target_properties(${module} PROPERTIES INSTALL_RPATH "$ORIGIN/../${TRN_LIB};$ORIGIN/../torch/lib")
  endif()
endforeach()

# Highway, oneTBB and oneDNN travel with the wheel, each once, by its soname; libstdc++ and libgomp are the system's.
foreach(library IN ITEMS hwy::hwy TBB::tbb DNNL::dnnl)
  if(TARGET ${library})
    install(FILES $<TARGET_FILE:${library}> DESTINATION ${TRN_LIB} RENAME $<TARGET_SONAME_FILE_NAME:${library}>)
  endif()
endforeach()
install(DIRECTORY backend/runtime/include/ DESTINATION trnsim/include OPTIONAL)
