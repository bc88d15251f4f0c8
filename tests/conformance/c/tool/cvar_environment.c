/* The environment variable FERRUM_P2P_EAGER_LIMIT sets the control variable p2p_eager_limit, which can be read
 * before MPI_Init. */
#include "tool.h"

int main(int argc, char **argv)
{
    MPI_T_cvar_handle limit;
    int index = -1, count;
    unsigned long long value = 0;
    tool_begin();
    ok(MPI_T_cvar_get_index("p2p_eager_limit", &index));
    ok(MPI_T_cvar_handle_alloc(index, NULL, &limit, &count));
    ok(MPI_T_cvar_read(limit, &value));
    check_equal(value, 1234);
    begin(&argc, &argv);
    ok(MPI_T_cvar_read(limit, &value));
    check_equal(value, 1234);
    ok(MPI_T_cvar_handle_free(&limit));
    MPI_T_finalize();
    return finish();
}
