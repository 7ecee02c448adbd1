# The wheel's layout, relative to site-packages: trnsim/lib/ holds the shared libraries, the modules find them from
# where they stand ($ORIGIN), so nothing depends on where the wheel is unpacked.
set(TRN_LIB trnsim/lib)
install(TARGETS trnsim nrt LIBRARY DESTINATION ${TRN_LIB})
set_target_properties(trnsim nrt PROPERTIES INSTALL_RPATH "$ORIGIN")
if(TARGET torch_neuronx)
  set_target_properties(trnsim_python torch_neuronx PROPERTIES INSTALL_RPATH "$ORIGIN/../${TRN_LIB};$ORIGIN/../torch/lib")
endif()

# Highway and oneTBB travel with the wheel, each once, by its soname; libstdc++ is the system's.
foreach(library IN ITEMS hwy::hwy TBB::tbb)
  install(FILES $<TARGET_FILE:${library}> DESTINATION ${TRN_LIB} RENAME $<TARGET_SONAME_FILE_NAME:${library}>)
endforeach()
install(DIRECTORY backend/runtime/include/ DESTINATION trnsim/include)
