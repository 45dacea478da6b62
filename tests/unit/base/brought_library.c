// One library by any name.
int NAME(void) { return 1; }
