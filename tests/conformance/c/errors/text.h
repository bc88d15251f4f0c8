/* What the programs about the texts of errors share. */
#ifndef FERRUM_ERRORS_TEXT_H
#define FERRUM_ERRORS_TEXT_H

#include "check.h"

/* Whether the text of an error code has this in it; shows the text when that is not as wanted. */
static inline int says_or_not(int code, const char *part, int wanted)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    if ((strstr(text, part) != NULL) == wanted)
        return 1;
    fprintf(stderr, "rank %d: \"%s\" %s \"%s\"\n", rank, text, wanted ? "lacks" : "contains", part);
    return 0;
}

static inline int has(int code, const char *part)
{
    return says_or_not(code, part, 1);
}

static inline int lacks(int code, const char *part)
{
    return says_or_not(code, part, 0);
}

#endif
