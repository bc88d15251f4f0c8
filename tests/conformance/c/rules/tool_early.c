/* Variables are there before MPI_Init and keep index, name, type and class after it and after MPI_Finalize; a control variable set
 * before MPI_Init keeps its value. */
#include "tool/tool.h"

enum { MOST = 1000 };
static struct pvar_info before[MOST];

static void same_as_before(int number)
{
    for (int i = 0; i < number && i < MOST; i++) {
        struct pvar_info now = pvar_info(i);
        check(memcmp(&now, &before[i], sizeof now) == 0);
    }
}

int main(int argc, char **argv)
{
    int pvars = 0, cvars = 0, later = 0, index = -1, count = 0;
    unsigned long long limit = 0;
    MPI_T_cvar_handle handle;
    tool_begin();
    ok(MPI_T_pvar_get_num(&pvars));
    ok(MPI_T_cvar_get_num(&cvars));
    for (int i = 0; i < pvars && i < MOST; i++)
        before[i] = pvar_info(i);
    ok(MPI_T_cvar_get_index("p2p_eager_limit", &index));
    ok(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    ok(MPI_T_cvar_read(handle, &limit));
    limit /= 2;
    ok(MPI_T_cvar_write(handle, &limit));
    begin(&argc, &argv);
    ok(MPI_T_pvar_get_num(&later));
    check_equal(later, pvars);
    ok(MPI_T_cvar_get_num(&later));
    check_equal(later, cvars);
    same_as_before(pvars);
    unsigned long long now = 0;
    ok(MPI_T_cvar_read(handle, &now));
    check_equal(now, limit);
    int total = 0;
    MPI_Reduce(&wrong, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    same_as_before(pvars);
    ok(MPI_T_cvar_read(handle, &now));
    check_equal(now, limit);
    ok(MPI_T_cvar_handle_free(&handle));
    ok(MPI_T_finalize());
    return verdict(total + wrong);
}
