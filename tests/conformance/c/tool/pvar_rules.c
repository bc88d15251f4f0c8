/* Every performance variable has the type, start and writability of its class; names are unique within a class and
 * can be looked up, and the information does not change. */
#include "tool.h"

static int is_unsigned(MPI_Datatype type)
{
    return type == MPI_UNSIGNED || type == MPI_UNSIGNED_LONG || type == MPI_UNSIGNED_LONG_LONG ||
           type == MPI_UINT32_T || type == MPI_UINT64_T;
}

static void rules_of_class(const struct pvar_info *info)
{
    int integer = is_unsigned(info->type), real = info->type == MPI_DOUBLE;
    switch (info->class) {
    case MPI_T_PVAR_CLASS_STATE: check(info->type == MPI_INT); break;
    case MPI_T_PVAR_CLASS_PERCENTAGE: check(real); break;
    case MPI_T_PVAR_CLASS_COUNTER: check(integer); break;
    case MPI_T_PVAR_CLASS_LEVEL:
    case MPI_T_PVAR_CLASS_SIZE:
    case MPI_T_PVAR_CLASS_HIGHWATERMARK:
    case MPI_T_PVAR_CLASS_LOWWATERMARK:
    case MPI_T_PVAR_CLASS_AGGREGATE:
    case MPI_T_PVAR_CLASS_TIMER: check(integer || real); break;
    default: check(info->class == MPI_T_PVAR_CLASS_GENERIC);
    }
    check(info->bind >= MPI_T_BIND_NO_OBJECT && info->bind <= MPI_T_BIND_MPI_SESSION);
    check(info->verbosity >= MPI_T_VERBOSITY_USER_BASIC && info->verbosity <= MPI_T_VERBOSITY_MPIDEV_ALL);
    check(info->description[0] != 0);
}

int main(int argc, char **argv)
{
    int number = 0, index, any;
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_T_pvar_get_num(&number));
    for (int i = 0; i < number; i++) {
        struct pvar_info info = pvar_info(i), again = pvar_info(i);
        int before = wrong;
        rules_of_class(&info);
        check(memcmp(&info, &again, sizeof info) == 0);
        ok(MPI_T_pvar_get_index(info.name, info.class, &index));
        check_equal(index, i);
        if (wrong > before)
            fprintf(stderr, "... for %s\n", info.name);
    }
    check_equal(MPI_T_pvar_get_index("no such variable", MPI_T_PVAR_CLASS_COUNTER, &index), MPI_T_ERR_INVALID_NAME);
    check_equal(MPI_T_pvar_get_index("MPI_T_UMQ_LENGTH", MPI_T_PVAR_CLASS_TIMER, &index), MPI_T_ERR_INVALID_NAME);
    for (int bad = 0; bad < 3; bad++) {
        int indices[] = {-1, number, 0x7fffffff};
        check_equal(MPI_T_pvar_get_info(indices[bad], NULL, NULL, &any, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                                        NULL),
                    MPI_T_ERR_INVALID_INDEX);
    }
    MPI_T_finalize();
    return finish();
}
