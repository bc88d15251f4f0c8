/* A negative index, the number of items, and the largest and smallest integers are MPI_T_ERR_INVALID_INDEX in every
 * call that takes an index, and nothing is stored; the last index is valid. */
#include "events.h"

static int value, room[4], length;
static char text[64];
static MPI_T_pvar_session session;
static int event_calls;

#define four_bad(number, call)                                                                                         \
    do {                                                                                                               \
        int bad[] = {-1, number, 0x7fffffff, -0x7fffffff - 1};                                                         \
        for (int b = 0; b < 4; b++) {                                                                                  \
            int i = bad[b];                                                                                            \
            value = room[0] = -5, length = sizeof text, text[0] = 'x';                                                 \
            check_equal(call, MPI_T_ERR_INVALID_INDEX);                                                                \
            check(value == -5 && room[0] == -5 && length == sizeof text && text[0] == 'x');                            \
        }                                                                                                              \
        int i = number - 1;                                                                                            \
        length = sizeof text;                                                                                          \
        check(call != MPI_T_ERR_INVALID_INDEX);                                                                        \
    } while (0)

static void variables(void)
{
    int number = 0;
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
    MPI_T_cvar_handle cvar = MPI_T_CVAR_HANDLE_NULL;
    MPI_Comm comm = MPI_COMM_SELF;
    ok(MPI_T_pvar_get_num(&number));
    four_bad(number,
             MPI_T_pvar_get_info(i, text, &length, &value, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    four_bad(number, MPI_T_pvar_handle_alloc(session, i, NULL, &handle, &value));
    four_bad(number, MPI_T_pvar_handle_alloc(session, i, &comm, &handle, &value));
    ok(MPI_T_cvar_get_num(&number));
    four_bad(number, MPI_T_cvar_get_info(i, text, &length, &value, NULL, NULL, NULL, NULL, NULL, NULL));
    four_bad(number, MPI_T_cvar_handle_alloc(i, NULL, &cvar, &value));
    four_bad(number, MPI_T_cvar_handle_alloc(i, &comm, &cvar, &value));
}

static void categories(void)
{
    int number = 0;
    ok(MPI_T_category_get_num(&number));
    four_bad(number, MPI_T_category_get_info(i, text, &length, NULL, NULL, &value, NULL, NULL));
    four_bad(number, MPI_T_category_get_cvars(i, 1, room));
    four_bad(number, MPI_T_category_get_cvars(i, 0, NULL));
    four_bad(number, MPI_T_category_get_pvars(i, 1, room));
    four_bad(number, MPI_T_category_get_categories(i, 1, room));
    four_bad(number, MPI_T_category_get_events(i, 1, room));
    four_bad(number, MPI_T_category_get_num_events(i, &value));
}

static void enumerations(void)
{
    int cvars = 0, tried = 0, number = 0;
    ok(MPI_T_cvar_get_num(&cvars));
    for (int c = 0; c < cvars; c++) {
        MPI_T_enum items;
        ok(MPI_T_cvar_get_info(c, NULL, NULL, NULL, NULL, &items, NULL, NULL, NULL, NULL));
        if (items == MPI_T_ENUM_NULL)
            continue;
        ok(MPI_T_enum_get_info(items, &number, NULL, NULL));
        four_bad(number, MPI_T_enum_get_item(items, i, &value, text, &length));
        tried++;
    }
    check(tried > 0);
}

static void on_set(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                   void *data)
{
    event_calls++;
    four_bad(2, MPI_T_event_read(instance, i, room));
}

static void events(void)
{
    int number = 0, index, count;
    unsigned long long limit = 4000;
    MPI_T_event_registration registration;
    MPI_T_cvar_handle cvar;
    MPI_Count time;
    ok(MPI_T_event_get_num(&number));
    four_bad(number, MPI_T_event_get_info(i, text, &length, &value, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    four_bad(number, MPI_T_event_handle_alloc(i, NULL, MPI_INFO_NULL, &registration));
    ok(MPI_T_source_get_num(&number));
    four_bad(number, MPI_T_source_get_info(i, text, &length, NULL, NULL, NULL, NULL, NULL, NULL));
    four_bad(number, MPI_T_source_get_timestamp(i, &time));
    registration = add_callback("tool_cvar_set", MPI_COMM_NULL, MPI_T_CB_REQUIRE_NONE, on_set, NULL);
    ok(MPI_T_cvar_get_index("p2p_eager_limit", &index));
    ok(MPI_T_cvar_handle_alloc(index, NULL, &cvar, &count));
    ok(MPI_T_cvar_write(cvar, &limit));
    check_equal(event_calls, 1);
    ok(MPI_T_cvar_handle_free(&cvar));
    ok(MPI_T_event_handle_free(registration, NULL, NULL));
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_T_pvar_session_create(&session));
    variables();
    categories();
    enumerations();
    events();
    ok(MPI_T_pvar_session_free(&session));
    MPI_T_finalize();
    return finish();
}
