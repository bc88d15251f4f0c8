/* MPI_Pack and MPI_Unpack: several packs into one buffer, the position, what is refused; packed data is sent as
 * MPI_PACKED and matches the types it was made of. */
#include "check.h"

int main(int argc, char **argv)
{
    static int matrix[10][10], back[10][10];
    char packed[1000];
    MPI_Datatype column;
    begin(&argc, &argv);
    return_errors();
    for (int i = 0; i < 100; i++)
        matrix[i / 10][i % 10] = i + 1;
    ok(MPI_Type_vector(10, 1, 10, MPI_INT, &column));
    ok(MPI_Type_commit(&column));

    int position = 0, size_of_column = -1, size_of_double = -1;
    double number = 2.5, number_back = 0;
    ok(MPI_Pack_size(1, column, MPI_COMM_WORLD, &size_of_column));
    ok(MPI_Pack_size(1, MPI_DOUBLE, MPI_COMM_WORLD, &size_of_double));
    check(size_of_column >= 40 && size_of_double >= 8);
    ok(MPI_Pack(&number, 1, MPI_DOUBLE, packed, 1000, &position, MPI_COMM_WORLD));
    check(position <= size_of_double);
    ok(MPI_Pack(&matrix[0][3], 1, column, packed, 1000, &position, MPI_COMM_WORLD));
    check(position <= size_of_double + size_of_column);
    int end = position;

    int other = (rank + 1) % size, received = -1;
    char incoming[1000];
    MPI_Status status;
    ok(MPI_Sendrecv(packed, end, MPI_PACKED, other, 0, incoming, 1000, MPI_PACKED, (rank + size - 1) % size, 0,
                    MPI_COMM_WORLD, &status));
    ok(MPI_Get_count(&status, MPI_PACKED, &received));
    check_equal(received, end);
    position = 0;
    ok(MPI_Unpack(incoming, end, &position, &number_back, 1, MPI_DOUBLE, MPI_COMM_WORLD));
    ok(MPI_Unpack(incoming, end, &position, &back[0][5], 1, column, MPI_COMM_WORLD));
    check_equal(position, end);
    check(number_back == 2.5);
    for (int i = 0; i < 10; i++)
        for (int j = 0; j < 10; j++)
            check_equal(back[i][j], j == 5 ? matrix[i][3] : 0);

    /* Sent as what it is, received packed; and the reverse. */
    position = 0;
    ok(MPI_Sendrecv(&matrix[0][3], 1, column, rank, 1, incoming, 1000, MPI_PACKED, rank, 1, MPI_COMM_WORLD, &status));
    memset(back, 0, sizeof back);
    ok(MPI_Unpack(incoming, 1000, &position, back, 1, column, MPI_COMM_WORLD));
    check(position == 40 && back[9][0] == matrix[9][3]);

    /* The large-count forms. */
    MPI_Count place = 0, needed = -1;
    ok(MPI_Pack_size_c(2, column, MPI_COMM_WORLD, &needed));
    check(needed >= 80);
    ok(MPI_Pack_c(matrix, 1, column, packed, 1000, &place, MPI_COMM_WORLD));
    check_equal(place, 40);
    place = 0;
    memset(back, 0, sizeof back);
    ok(MPI_Unpack_c(packed, 40, &place, back, 1, column, MPI_COMM_WORLD));
    check(place == 40 && back[4][0] == matrix[4][0]);

    /* A pack or unpack without enough room changes nothing. */
    memset(packed, 0x77, sizeof packed);
    position = 10;
    check_class(MPI_Pack(matrix, 1, column, packed, 49, &position, MPI_COMM_WORLD), MPI_ERR_TRUNCATE);
    check(position == 10 && packed[10] == 0x77);
    check_class(MPI_Unpack(packed, 49, &position, back, 1, column, MPI_COMM_WORLD), MPI_ERR_TRUNCATE);
    check(position == 10 && back[4][0] == matrix[4][0]);
    position = -1;
    check_class(MPI_Pack(matrix, 1, column, packed, 1000, &position, MPI_COMM_WORLD), MPI_ERR_ARG);
    position = 1001;
    check_class(MPI_Pack(matrix, 0, column, packed, 1000, &position, MPI_COMM_WORLD), MPI_ERR_ARG);
    check_equal(position, 1001);
    position = 3;
    ok(MPI_Pack(NULL, 0, column, NULL, 1000, &position, MPI_COMM_WORLD));
    check_equal(position, 3);
    ok(MPI_Type_free(&column));
    return finish();
}
