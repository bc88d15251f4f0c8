/* Outside of initialisation every call of the interface but MPI_T_init_thread returns MPI_T_ERR_NOT_INITIALIZED and
 * stores nothing: before the first initialisation and after the last finalisation, before MPI_Init and after
 * MPI_Finalize. Handles and sessions remain, and work again after the next initialisation. */
#include "tool.h"

static MPI_T_pvar_session session;
static MPI_T_pvar_handle handle;
static MPI_T_cvar_handle cvar;
static MPI_T_event_registration registration;

/* The results of the calls: all of them must stay unchanged. */
static struct places {
    char text[16], more[16];
    int length, length2, number[8];
    MPI_Datatype type[4];
    MPI_Aint displacement[4];
    MPI_Count time[2];
    MPI_T_enum items;
    MPI_T_source_order order;
    MPI_Info info;
    unsigned long long value[8];
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    MPI_T_cvar_handle cvar;
    MPI_T_event_registration registration;
} at;

static void never(MPI_T_event_instance i, MPI_T_event_registration r, MPI_T_cb_safety s, void *data)
{
    check(!"called");
}

#define refused(call)                                                                                                  \
    do {                                                                                                               \
        struct places before = at;                                                                                     \
        check_equal(call, MPI_T_ERR_NOT_INITIALIZED);                                                                  \
        check(memcmp(&before, &at, sizeof at) == 0);                                                                   \
    } while (0)

static void inquiry(void)
{
    int *n = at.number;
    refused(MPI_T_cvar_get_num(n));
    refused(MPI_T_cvar_get_info(0, at.text, &at.length, &n[0], at.type, &at.items, at.more, &at.length2, &n[1], &n[2]));
    refused(MPI_T_cvar_get_index("p2p_eager_limit", n));
    refused(MPI_T_pvar_get_num(n));
    refused(MPI_T_pvar_get_info(0, at.text, &at.length, &n[0], &n[1], at.type, &at.items, at.more, &at.length2, &n[2],
                                &n[3], &n[4], &n[5]));
    refused(MPI_T_pvar_get_index("MPI_T_UMQ_LENGTH", MPI_T_PVAR_CLASS_LEVEL, n));
    refused(MPI_T_category_get_num(n));
    refused(MPI_T_category_get_info(0, at.text, &at.length, at.more, &at.length2, &n[0], &n[1], &n[2]));
    refused(MPI_T_category_get_index("p2p", n));
    refused(MPI_T_category_get_cvars(0, 4, n));
    refused(MPI_T_category_get_pvars(0, 4, n));
    refused(MPI_T_category_get_categories(0, 4, n));
    refused(MPI_T_category_get_events(0, 4, n));
    refused(MPI_T_category_get_num_events(0, n));
    refused(MPI_T_category_changed(n));
    refused(MPI_T_enum_get_info(at.items, n, at.text, &at.length));
    refused(MPI_T_enum_get_item(at.items, 0, n, at.text, &at.length));
    refused(MPI_T_event_get_num(n));
    refused(MPI_T_event_get_info(0, at.text, &at.length, &n[0], at.type, at.displacement, &n[1], &at.items, &at.info,
                                 at.more, &at.length2, &n[2]));
    refused(MPI_T_event_get_index("tool_cvar_set", n));
    refused(MPI_T_source_get_num(n));
    refused(MPI_T_source_get_info(0, at.text, &at.length, at.more, &at.length2, &at.order, &at.time[0], &at.time[1],
                                  &at.info));
    refused(MPI_T_source_get_timestamp(0, at.time));
}

static void variables(MPI_T_pvar_session s, MPI_T_pvar_handle h, MPI_T_cvar_handle c)
{
    MPI_Comm comm = MPI_COMM_SELF;
    at.session = s, at.handle = h, at.cvar = c;
    refused(MPI_T_pvar_session_create(&at.session));
    refused(MPI_T_pvar_handle_alloc(s, 0, &comm, &at.handle, at.number));
    refused(MPI_T_pvar_start(s, h));
    refused(MPI_T_pvar_start(s, MPI_T_PVAR_ALL_HANDLES));
    refused(MPI_T_pvar_stop(s, h));
    refused(MPI_T_pvar_stop(s, MPI_T_PVAR_ALL_HANDLES));
    refused(MPI_T_pvar_reset(s, h));
    refused(MPI_T_pvar_reset(s, MPI_T_PVAR_ALL_HANDLES));
    refused(MPI_T_pvar_read(s, h, at.value));
    refused(MPI_T_pvar_write(s, h, at.value));
    refused(MPI_T_pvar_readreset(s, h, at.value));
    refused(MPI_T_pvar_handle_free(s, &at.handle));
    refused(MPI_T_pvar_session_free(&at.session));
    refused(MPI_T_cvar_handle_alloc(0, NULL, &at.cvar, at.number));
    refused(MPI_T_cvar_read(c, at.value));
    refused(MPI_T_cvar_write(c, at.value));
    refused(MPI_T_cvar_handle_free(&at.cvar));
}

static void events(MPI_T_event_registration r)
{
    at.registration = r;
    refused(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, &at.registration));
    refused(MPI_T_event_handle_set_info(r, MPI_INFO_NULL));
    refused(MPI_T_event_handle_get_info(r, &at.info));
    refused(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, never));
    refused(MPI_T_event_callback_set_info(r, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL));
    refused(MPI_T_event_callback_get_info(r, MPI_T_CB_REQUIRE_NONE, &at.info));
    refused(MPI_T_event_set_dropped_handler(r, NULL));
    refused(MPI_T_event_handle_free(r, NULL, NULL));
    refused(MPI_T_event_read((MPI_T_event_instance)r, 0, at.value));
    refused(MPI_T_event_copy((MPI_T_event_instance)r, at.value));
    refused(MPI_T_event_get_timestamp((MPI_T_event_instance)r, at.time));
    refused(MPI_T_event_get_source((MPI_T_event_instance)r, at.number));
}

static void all(void)
{
    inquiry();
    variables(session, handle, cvar);
    variables(MPI_T_PVAR_SESSION_NULL, MPI_T_PVAR_HANDLE_NULL, MPI_T_CVAR_HANDLE_NULL);
    variables((MPI_T_pvar_session)&at, (MPI_T_pvar_handle)&at, (MPI_T_cvar_handle)&at);
    events(registration);
    events((MPI_T_event_registration)&at);
    check_equal(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
}

static void make(void)
{
    int index, count;
    unsigned long long one = 1;
    ok(MPI_T_pvar_session_create(&session));
    handle = watch(session, "p2p_messages_sent", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_SELF);
    ok(MPI_T_pvar_write(session, handle, &one));
    ok(MPI_T_cvar_get_index("p2p_eager_limit", &index));
    ok(MPI_T_cvar_handle_alloc(index, NULL, &cvar, &count));
    ok(MPI_T_event_get_index("tool_cvar_set", &index));
    ok(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registration));
}

int main(int argc, char **argv)
{
    unsigned long long limit = 0, value = 0;
    memset(&at, 0, sizeof at);
    at.length = at.length2 = 16;
    at.items = (MPI_T_enum)&at;
    all();
    tool_begin();
    make();
    ok(MPI_T_cvar_read(cvar, &limit));
    tool_begin();
    ok(MPI_T_finalize());
    check_equal(read_pvar(session, handle), 1);
    ok(MPI_T_finalize());
    all();
    begin(&argc, &argv);
    all();
    MPI_Sendrecv(&value, 1, MPI_INT, 0, 0, &value, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    int total = 0;
    MPI_Reduce(&wrong, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    all();
    tool_begin();
    check_equal(read_pvar(session, handle), 2);
    ok(MPI_T_cvar_read(cvar, &value));
    check(value == limit);
    ok(MPI_T_event_handle_free(registration, NULL, NULL));
    ok(MPI_T_cvar_handle_free(&cvar));
    ok(MPI_T_pvar_handle_free(session, &handle));
    ok(MPI_T_pvar_session_free(&session));
    ok(MPI_T_finalize());
    all();
    return verdict(total + wrong);
}
