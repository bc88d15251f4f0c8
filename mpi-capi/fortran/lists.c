/* Lists whose length is no argument. */
#include "ferrum_fortran.h"
#include <string.h>

/* A converted integer that names nothing is negative as a word, and a predefined handle is small. */
static int is_live(MPI_Comm comm)
{
    return comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF || (intptr_t)comm > 4095;
}

int ferrum_is_root(MPI_Comm comm, MPI_Fint root)
{
    int rank = MPI_PROC_NULL, between = 0;
    if (root >= 0 && is_live(comm)) {
        PMPI_Comm_test_inter(comm, &between);
        PMPI_Comm_rank(comm, &rank);
    }
    /* The root of an intercommunicator's other group is a rank there. */
    return (rank == root && !between) || root == MPI_ROOT;
}

MPI_Fint ferrum_peers(MPI_Comm comm)
{
    int size = 0, between = 0;
    if (!is_live(comm))
        return 0;
    PMPI_Comm_test_inter(comm, &between);
    if (between)
        PMPI_Comm_remote_size(comm, &size);
    else
        PMPI_Comm_size(comm, &size);
    return size;
}

static MPI_Fint neighbours(MPI_Comm comm, int outgoing)
{
    int kind = MPI_UNDEFINED, number = 0, rank = 0, in = 0, out = 0, weighted = 0;
    if (!is_live(comm))
        return 0;
    PMPI_Topo_test(comm, &kind);
    switch (kind) {
    case MPI_CART:
        PMPI_Cartdim_get(comm, &number);
        return 2 * number;
    case MPI_GRAPH:
        PMPI_Comm_rank(comm, &rank);
        PMPI_Graph_neighbors_count(comm, rank, &number);
        return number;
    case MPI_DIST_GRAPH:
        PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
        return outgoing ? out : in;
    default:
        return 0;
    }
}

MPI_Fint ferrum_destinations(MPI_Comm comm)
{
    return neighbours(comm, 1);
}

MPI_Fint ferrum_sources(MPI_Comm comm)
{
    return neighbours(comm, 0);
}

/* The length of a text without its trailing blanks. */
static size_t used(const char *text, size_t length)
{
    while (length > 0 && text[length - 1] == ' ')
        length--;
    return length;
}

/* Copies texts without leading blanks (MPI-5.0, 11.8.2) that stand `stride` characters apart behind each other;
 * returns the place behind the last. */
static char *copy_texts(const char *from, size_t stride, size_t length, size_t count, char **list, char *place)
{
    for (size_t i = 0; i < count; i++) {
        const char *text = from + i * stride;
        size_t characters = used(text, length);
        while (characters > 0 && *text == ' ') {
            text++;
            characters--;
        }
        memcpy(place, text, characters);
        place[characters] = 0;
        list[i] = place;
        place += characters + 1;
    }
    list[count] = 0;
    return place;
}

/* The texts before the first blank one. */
static size_t before_blank(const char *texts, size_t stride, size_t length)
{
    size_t count = 0;
    while (used(texts + count * stride, length) > 0)
        count++;
    return count;
}

int ferrum_texts(const char *texts, size_t length, MPI_Fint count, char ***made)
{
    *made = MPI_ARGV_NULL;
    if (texts == ferrum_argv_null_)
        return 1;
    size_t number = count < 0 ? before_blank(texts, length, length) : (size_t)count;
    char **list = malloc((number + 1) * sizeof *list + number * (length + 1));
    if (!list)
        return 0;
    copy_texts(texts, length, length, number, list, (char *)(list + number + 1));
    *made = list;
    return 1;
}

int ferrum_text_lists(const char *texts, size_t length, MPI_Fint count, char ****made)
{
    *made = MPI_ARGVS_NULL;
    if (texts == ferrum_argvs_null_ || count <= 0)
        return 1;
    /* Columns of the matrix are behind each other: a row's texts stand a column apart. */
    size_t rows = (size_t)count, stride = rows * length, number = 0;
    for (size_t row = 0; row < rows; row++)
        number += before_blank(texts + row * length, stride, length);
    char ***lists = malloc(rows * sizeof *lists + (number + rows) * sizeof **lists + number * (length + 1));
    if (!lists)
        return 0;
    char **list = (char **)(lists + rows), *place = (char *)(list + number + rows);
    for (size_t row = 0; row < rows; row++) {
        size_t own = before_blank(texts + row * length, stride, length);
        lists[row] = list;
        place = copy_texts(texts + row * length, stride, length, own, list, place);
        list += own + 1;
    }
    *made = lists;
    return 1;
}
