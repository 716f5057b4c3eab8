// The units of this file and of second.cpp have one shape: their functions are described at the
// same place of two files. The jump is found in the code alone.
#if !defined(__clang__)
    #pragma GCC optimize("no-var-tracking")
#endif
void* ask_other();
void* ask_first() {
    return ask_other();
}
