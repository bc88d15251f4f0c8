/* Texts: blanks at the end in Fortran, a NUL in C. */
#include "ferrum_fortran.h"
#include <string.h>

char *ferrum_text(const char *text, size_t length, int without_leading, char *few)
{
    while (length > 0 && text[length - 1] == ' ')
        length--;
    while (without_leading && length > 0 && *text == ' ') {
        text++;
        length--;
    }
    char *copy = length < FERRUM_FEW_CHARACTERS ? few : malloc(length + 1);
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = 0;
    }
    return copy;
}

char *ferrum_room(MPI_Fint characters, char *few)
{
    size_t room = characters > 0 ? (size_t)ferrum_with_nul(characters) : 1;
    char *copy = room <= FERRUM_FEW_CHARACTERS ? few : malloc(room);
    if (copy)
        copy[0] = 0;
    return copy;
}

void ferrum_pad(char *variable, size_t length, const char *text)
{
    size_t used = strnlen(text, length);
    memcpy(variable, text, used);
    memset(variable + used, ' ', length - used);
}
