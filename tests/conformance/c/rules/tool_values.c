/* Values conform to their class: a state has an enumeration and is one of its items, a percentage lies between 0 and
 * 1, a timer is not negative, a size does not change; read-and-reset works for exactly the variables that are
 * declared atomic. */
#include "tool/tool.h"

static int is_item(MPI_T_enum items, int value)
{
    int count = 0, found = 0, item;
    ok(MPI_T_enum_get_info(items, &count, NULL, NULL));
    for (int i = 0; i < count; i++) {
        ok(MPI_T_enum_get_item(items, i, &item, NULL, NULL));
        found |= item == value;
    }
    return found;
}

static void look(MPI_T_pvar_session session, MPI_T_pvar_handle handle, const struct pvar_info *info)
{
    static union {
        int state;
        double real;
        unsigned char bytes[65536];
    } value, again;
    ok(MPI_T_pvar_read(session, handle, &value));
    if (info->class == MPI_T_PVAR_CLASS_STATE)
        check(info->items != MPI_T_ENUM_NULL && is_item(info->items, value.state));
    if (info->class == MPI_T_PVAR_CLASS_PERCENTAGE)
        check(value.real >= 0.0 && value.real <= 1.0);
    if (info->type == MPI_DOUBLE)
        check(value.real >= 0.0);
    if (info->class == MPI_T_PVAR_CLASS_SIZE) {
        ok(MPI_T_pvar_read(session, handle, &again));
        check(memcmp(&value, &again, 4) == 0);
    }
    check_equal(MPI_T_pvar_readreset(session, handle, &again), info->atomic ? MPI_SUCCESS : MPI_T_ERR_PVAR_NO_ATOMIC);
    check(!(info->atomic && info->readonly));
}

int main(int argc, char **argv)
{
    MPI_T_pvar_session session;
    MPI_Comm comm = MPI_COMM_WORLD;
    int number = 0, tried = 0;
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_T_pvar_session_create(&session));
    ok(MPI_T_pvar_get_num(&number));
    for (int i = 0; i < number; i++) {
        struct pvar_info info = pvar_info(i);
        MPI_T_pvar_handle handle;
        int count, before = wrong;
        if (info.bind != MPI_T_BIND_NO_OBJECT && info.bind != MPI_T_BIND_MPI_COMM)
            continue;
        if (MPI_T_pvar_handle_alloc(session, i, &comm, &handle, &count) != MPI_SUCCESS)
            continue;
        if (!info.continuous)
            ok(MPI_T_pvar_start(session, handle));
        look(session, handle, &info);
        ok(MPI_T_pvar_handle_free(session, &handle));
        tried++;
        if (wrong > before)
            fprintf(stderr, "... for %s\n", info.name);
    }
    check(tried > 10);
    ok(MPI_T_pvar_session_free(&session));
    MPI_T_finalize();
    return finish();
}
