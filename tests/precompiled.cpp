// CMake makes a precompiled header only for a target with a file to compile; main.cpp must not use it.
