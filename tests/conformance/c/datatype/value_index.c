/* The predefined type of a value with an index; none where there is no such type. */
#include "check.h"

int main(int argc, char **argv)
{
    const MPI_Datatype pairs[][3] = {
        {MPI_FLOAT, MPI_INT, MPI_FLOAT_INT}, {MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT}, {MPI_LONG, MPI_INT, MPI_LONG_INT},
        {MPI_INT, MPI_INT, MPI_2INT},        {MPI_SHORT, MPI_INT, MPI_SHORT_INT},
        {MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT}};
    MPI_Datatype pair;
    begin(&argc, &argv);
    return_errors();
    for (int i = 0; i < 6; i++) {
        pair = MPI_DATATYPE_NULL;
        ok(MPI_Type_get_value_index(pairs[i][0], pairs[i][1], &pair));
        check(pair == pairs[i][2]);
        check_class(MPI_Type_free(&pair), MPI_ERR_TYPE);
    }
    pair = MPI_INT;
    ok(MPI_Type_get_value_index(MPI_CHAR, MPI_DOUBLE, &pair));
    check(pair == MPI_DATATYPE_NULL);
    return finish();
}
