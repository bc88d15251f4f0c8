/* Threads are in mpitest.h. */
#include "mpitest.h"
