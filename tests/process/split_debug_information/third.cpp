struct item {
    int numbers[3];
};
void* ask_third() {
    return new item;
}
