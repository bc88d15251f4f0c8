/* MPI_Init takes NULL for both arguments. */
#include "check.h"

int main(void)
{
    ok(MPI_Init(NULL, NULL));
    identify();
    check(size >= 1 && rank >= 0 && rank < size);
    return finish();
}
