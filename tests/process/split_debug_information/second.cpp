void* ask_third();
void* ask_other() {
    return ask_third();
}
