/* The functions for threads are in mpitest.h. */
#include "mpitest.h"
