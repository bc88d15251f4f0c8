/* A tool for the draft of 2011: every MPIT function, type and constant, before MPI_Init, between MPI_Init and
 * MPI_Finalize, and after MPI_Finalize. The program uses no name of MPI_T. */
#include "check.h"
#include <mpit_draft.h>

static int is_a_type_of_class(MPIT_Datatype type, int class)
{
    int kind = -1, real = type == MPIT_FLOAT || type == MPIT_DOUBLE;
    int whole = type == MPIT_SHORT || type == MPIT_INT || type == MPIT_LONG || type == MPIT_LONG_LONG;
    ok(MPIT_Datatype_get_class(type, &kind));
    switch (class) {
    case MPIT_PERFVAR_CLASS_STATE: return kind == MPIT_DATATYPECLASS_ENUMERATION || type == MPIT_INT;
    case MPIT_PERFVAR_CLASS_RESOURCE_PERCENTAGE: return real;
    case MPIT_PERFVAR_CLASS_EVENT_COUNTER: return whole;
    case MPIT_PERFVAR_CLASS_RESOURCE_LEVEL:
    case MPIT_PERFVAR_CLASS_RESOURCE_HIGHWATERMARK:
    case MPIT_PERFVAR_CLASS_RESOURCE_LOWWATERMARK:
    case MPIT_PERFVAR_CLASS_EVENT_AGGREGATE:
    case MPIT_PERFVAR_CLASS_EVENT_TIMER: return whole || real || kind == MPIT_DATATYPECLASS_ENUMERATION;
    default: return 0;
    }
}

static void datatypes(void)
{
    struct { MPIT_Datatype type; size_t size; } known[] = {
        {MPIT_LOGICAL, sizeof(int)}, {MPIT_BYTE, 1}, {MPIT_SHORT, sizeof(short)}, {MPIT_INT, sizeof(int)},
        {MPIT_LONG, sizeof(long)}, {MPIT_LONG_LONG, sizeof(long long)}, {MPIT_CHAR, 1}, {MPIT_FLOAT, sizeof(float)},
        {MPIT_DOUBLE, sizeof(double)}};
    for (int i = 0; i < 9; i++) {
        int kind = -1, length = -1;
        ok(MPIT_Datatype_get_class(known[i].type, &kind));
        check_equal(kind, MPIT_DATATYPECLASS_PREDEFINED);
        ok(MPIT_Datatype_get_size(known[i].type, &length));
        check_equal(length, known[i].size);
        check_equal(MPIT_Datatype_enum_get_info(known[i].type, &kind, NULL, NULL), MPIT_ERR_PREDEFINED);
        check_equal(MPIT_Datatype_enum_get_item(known[i].type, 0, NULL, NULL), MPIT_ERR_PREDEFINED);
    }
    int any;
    check_equal(MPIT_Datatype_get_class((MPIT_Datatype)77, &any), MPIT_ERR_INVALIDDATATYPE);
    check_equal(MPIT_Datatype_get_size((MPIT_Datatype)0, &any), MPIT_ERR_INVALIDDATATYPE);
    check_equal(MPIT_Datatype_get_size(MPIT_INT, NULL), MPI_T_ERR_INVALID);
    check_equal(MPIT_Datatype_get_class(MPIT_INT, NULL), MPI_T_ERR_INVALID);
    check_equal(MPIT_Controlvar_attr_get_scope((MPIT_Controlvar_attributes){MPI_T_SCOPE_LOCAL}, NULL),
                MPI_T_ERR_INVALID);
    check_equal(MPIT_Perfvar_attr_get_readonly((MPIT_Perfvar_attributes){0, 1}, NULL), MPI_T_ERR_INVALID);
    check_equal(MPIT_Perfvar_attr_get_continuous((MPIT_Perfvar_attributes){0, 1}, NULL), MPI_T_ERR_INVALID);
    int codes[] = {MPIT_ERR_PREDEFINED, MPIT_ERR_INVALIDDATATYPE, MPIT_ERR_INVALIDVAR, MPIT_ERR_INVALIDCATEGORY};
    for (int i = 0; i < 4; i++) {
        char text[MPI_MAX_ERROR_STRING];
        int length = 0;
        ok(MPI_Error_string(codes[i], text, &length));
        check(strncmp(text, "MPI_T_ERR_INVALID", 17) == 0);
    }
}

/* All control variables; those without a bound object are read. */
static void controls(void)
{
    int num = 0, enumerations = 0;
    ok(MPIT_Controlvar_get_num(&num));
    check(num > 0);
    for (int i = 0; i < num; i++) {
        char name[100], desc[500], buf[4096];
        int name_len = sizeof name, desc_len = sizeof desc, verbosity = -1, count = 1, bind = -1, scope = -1, bytes = 1;
        int kind = -1;
        MPIT_Datatype type = MPIT_INT;
        MPIT_Controlvar_attributes attributes = {-1};
        MPIT_Controlvar_handle handle;
        ok(MPIT_Controlvar_get_info(i, name, &name_len, &verbosity, &type, &count, desc, &desc_len, &bind,
                                    &attributes));
        check(name[0] && name_len == (int)strlen(name) + 1);
        check(verbosity >= MPIT_VERBOSITY_USER_BASIC && verbosity <= MPIT_VERBOSITY_MPIDEV_VERBOSE);
        ok(MPIT_Controlvar_attr_get_scope(attributes, &scope));
        check(scope == MPIT_SCOPE_READONLY || scope == MPIT_SCOPE_LOCAL || scope == MPIT_SCOPE_GLOBAL);
        ok(MPIT_Datatype_get_size(type, &bytes));
        ok(MPIT_Datatype_get_class(type, &kind));
        check(bytes * count <= (int)sizeof buf);
        if (bind == MPIT_BIND_GLOBAL) {
            ok(MPIT_Controlvar_handle_allocate(i, NULL, &handle));
            ok(MPIT_Controlvar_read(handle, buf));
            if (kind == MPIT_DATATYPECLASS_ENUMERATION) {
                char item[100];
                int item_len = sizeof item, items = -1, value;
                memcpy(&value, buf, sizeof value);
                enumerations++;
                ok(MPIT_Datatype_enum_get_info(type, &items, item, &item_len));
                check(items > 0 && item[0]);
                item_len = sizeof item;
                ok(MPIT_Datatype_enum_get_item(type, value, item, &item_len));
                check(item[0] != 0);
                check_equal(MPIT_Datatype_enum_get_item(type, -77, NULL, NULL), MPIT_ERR_INVALIDITEM);
            }
            ok(MPIT_Controlvar_handle_free(&handle));
            check(handle == MPIT_CONTROLVAR_HANDLE_NULL);
        }
    }
    check(enumerations > 0);
    check_equal(MPIT_Controlvar_get_info(num, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
                MPIT_ERR_INVALIDINDEX);
    check_equal(MPIT_Controlvar_read(MPIT_CONTROLVAR_HANDLE_NULL, &num), MPIT_ERR_INVALIDHANDLE);
}

/* The eager limit is a control variable, as in the draft's own example. */
static void eager_limit(void)
{
    int num = 0;
    ok(MPIT_Controlvar_get_num(&num));
    for (int i = 0; i < num; i++) {
        char name[100];
        int name_len = sizeof name;
        long long before, value = 1000, now = 0;
        MPIT_Controlvar_handle handle;
        ok(MPIT_Controlvar_get_info(i, name, &name_len, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
        if (strcmp(name, "p2p_eager_limit"))
            continue;
        ok(MPIT_Controlvar_handle_allocate(i, NULL, &handle));
        ok(MPIT_Controlvar_read(handle, &before));
        ok(MPIT_Controlvar_write(handle, &value));
        ok(MPIT_Controlvar_read(handle, &now));
        check_equal(now, 1000);
        ok(MPIT_Controlvar_write(handle, &before));
        ok(MPIT_Controlvar_handle_free(&handle));
        return;
    }
    check(!"the eager limit is a control variable");
}

static void no_two_alike(int num)
{
    static char names[2000][100];
    check(num > 0 && num <= 2000);
    for (int i = 0; i < num; i++) {
        int name_len = sizeof names[i];
        ok(MPIT_Perfvar_get_info(i, names[i], &name_len, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
        check_equal(name_len, strlen(names[i]) + 1);
        for (int k = 0; k < i; k++)
            check(strcmp(names[i], names[k]) != 0);
    }
}

/* All performance variables without an object or bound to a communicator are read in a session. */
static void performance(void)
{
    int num = 0, none = 0;
    MPIT_Perfvar_session session;
    MPI_Comm comm = MPI_COMM_SELF;
    ok(MPIT_Perfvar_get_num(&num));
    check(num > 0);
    no_two_alike(num);
    ok(MPIT_Perfvar_session_create(&session));
    for (int i = 0; i < num; i++) {
        int varclass = -1, count = 1, bind = -1, readonly = -1, continuous = -1, bytes = 1;
        char cut[4];
        int cut_len = sizeof cut;
        MPIT_Datatype type = MPIT_INT;
        MPIT_Perfvar_attributes attributes = {-1, -1};
        MPIT_Perfvar_handle handle;
        ok(MPIT_Perfvar_get_info(i, cut, &cut_len, NULL, &varclass, &type, &count, NULL, NULL, &bind, &attributes));
        check(strlen(cut) == 3 && cut_len > 4);
        check(is_a_type_of_class(type, varclass));
        ok(MPIT_Perfvar_attr_get_readonly(attributes, &readonly));
        ok(MPIT_Perfvar_attr_get_continuous(attributes, &continuous));
        ok(MPIT_Datatype_get_size(type, &bytes));
        if (bind != MPIT_BIND_GLOBAL && bind != MPIT_BIND_MPI_COMMUNICATOR)
            continue;
        char *buf = calloc((size_t)(count > 0 ? count : 1), 16);
        check(count > 0 && bytes <= 16);
        ok(MPIT_Perfvar_handle_allocate(session, i, &comm, &handle));
        check_equal(MPIT_Perfvar_start(session, handle), continuous ? MPIT_ERR_NOSTARTSTOP : MPIT_SUCCESS);
        ok(MPIT_Perfvar_read(session, handle, buf));
        check_equal(MPIT_Perfvar_reset(session, handle), readonly ? MPIT_ERR_NOWRITE : MPIT_SUCCESS);
        check_equal(MPIT_Perfvar_readreset(session, handle, buf), readonly ? MPIT_ERR_PERFVAR_WRITE : MPIT_SUCCESS);
        check_equal(MPIT_Perfvar_write(session, handle, buf), readonly ? MPIT_ERR_PERFVAR_WRITE : MPIT_SUCCESS);
        check_equal(MPIT_Perfvar_stop(session, handle), continuous ? MPIT_ERR_NOSTARTSTOP : MPIT_SUCCESS);
        ok(MPIT_Perfvar_start(session, MPIT_PERFVAR_ALL_HANDLES));
        ok(MPIT_Perfvar_handle_free(session, &handle));
        check(handle == MPIT_PERFVAR_HANDLE_NULL);
        free(buf);
    }
    check_equal(MPIT_Perfvar_read(session, MPIT_PERFVAR_HANDLE_NULL, &none), MPIT_ERR_INVALIDHANDLE);
    ok(MPIT_Perfvar_session_free(&session));
    check(session == MPIT_PERFVAR_SESSION_NULL);
    check_equal(MPIT_Perfvar_session_free(&session), MPIT_ERR_INVALIDSESSION);
}

static int variables_below(int category, int depth)
{
    char name[100];
    int name_len = sizeof name, controls = 0, perfs = 0, categories = 0, sum, inside[100];
    check(depth < 20);
    ok(MPIT_Category_get_info(category, name, &name_len, NULL, NULL, &controls, &perfs, &categories));
    check(categories <= 100);
    ok(MPIT_Category_get_controlvars(category, 100, inside));
    ok(MPIT_Category_get_perfvars(category, 100, inside));
    ok(MPIT_Category_get_categories(category, 100, inside));
    sum = controls + perfs;
    for (int i = 0; i < categories; i++)
        sum += variables_below(inside[i], depth + 1);
    return sum;
}

static void categories(void)
{
    int num = 0, sum = 0, none;
    ok(MPIT_Category_get_num(&num));
    for (int i = 0; i < num; i++)
        sum += variables_below(i, 0);
    check(sum > 0);
    check_equal(MPIT_Category_get_info(num, NULL, NULL, NULL, NULL, &none, &none, &none), MPIT_ERR_INVALIDCATEGORY);
    check_equal(MPIT_Category_get_perfvars(-1, 1, &none), MPIT_ERR_INVALIDCATEGORY);
}

int main(int argc, char **argv)
{
    int num = -1, value = 0;
    check_equal(MPIT_Finalize(), MPIT_ERR_NOTINITIALIZED);
    check_equal(MPIT_Perfvar_get_num(&num), MPIT_ERR_NOTINITIALIZED);
    check_equal(MPIT_Datatype_get_class((MPIT_Datatype)&num, &num), MPIT_ERR_NOTINITIALIZED);
    ok(MPIT_Init());
    ok(MPIT_Init());
    datatypes();
    eager_limit();
    MPI_Init(&argc, &argv);
    identify();
    ok(MPIT_Finalize());
    controls();
    performance();
    categories();
    /* The profiling names exist, and have the same effect. */
    ok(PMPIT_Perfvar_get_num(&num));
    ok(MPIT_Perfvar_get_num(&value));
    check_equal(num, value);
    MPI_Finalize();
    ok(MPIT_Controlvar_get_num(&num));
    ok(MPIT_Finalize());
    check_equal(MPIT_Finalize(), MPIT_ERR_NOTINITIALIZED);
    return verdict(wrong);
}
