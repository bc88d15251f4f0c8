/* Functions for the programs about the texts of errors. */
#ifndef FERRUM_ERRORS_TEXT_H
#define FERRUM_ERRORS_TEXT_H

#include "check.h"

/* Whether the text of an error code contains this string; prints the text if not. */
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
