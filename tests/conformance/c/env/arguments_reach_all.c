/* The program's arguments reach every rank unchanged, also empty ones and ones with spaces. */
#include "check.h"

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    check_equal(argc, 4);
    check(argc == 4 && strcmp(argv[1], "one") == 0 && strcmp(argv[2], "") == 0 && strcmp(argv[3], "two words") == 0);
    return finish();
}
