/* ferrum_tool_error returns the reason of the last failed call of MPI_T: the function, the argument, its value and
 * the permitted values. The program makes every function fail that can. */
#include "events.h"
#include <ferrum_tool.h>

/* The call fails with this class, and the reason is this text; `%s` in it matches any text. */
#define because(call, class, text)                                                                                     \
    do {                                                                                                               \
        check_class(call, class);                                                                                      \
        check_reason(text, __LINE__);                                                                                  \
    } while (0)

static void check_reason(const char *expected, int line)
{
    const char *reason = ferrum_tool_error(), *rest = strstr(expected, "%s");
    size_t first = rest ? (size_t)(rest - expected) : strlen(expected) + 1;
    int same = strncmp(reason, expected, first) == 0;
    if (same && rest) {
        size_t last = strlen(rest + 2), all = strlen(reason);
        same = all >= first + last && strcmp(reason + all - last, rest + 2) == 0;
    }
    if (!same && wrong++ < 10)
        fprintf(stderr, "reasons.c:%d: the reason is \"%s\", not \"%s\"\n", line, reason, expected);
}

static int number, index_of, negative = -1;
static MPI_T_event_instance last_instance;

static void on_set(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                   void *data)
{
    double value;
    (void)registration, (void)safety, (void)data;
    last_instance = instance;
    because(MPI_T_event_read(instance, 2, &value), MPI_T_ERR_INVALID_INDEX,
            "MPI_T_event_read: argument element_index is 2, but there are 2 elements of the event type, with indices 0 "
            "to 1");
    because(MPI_T_event_read(instance, 0, NULL), MPI_T_ERR_INVALID,
            "MPI_T_event_read: argument buffer is NULL, but an address is needed");
    because(MPI_T_event_copy(instance, NULL), MPI_T_ERR_INVALID,
            "MPI_T_event_copy: argument buffer is NULL, but an address is needed");
}

static void pvars(void)
{
    MPI_T_pvar_session session, other, freed;
    MPI_T_pvar_handle handle, size, none = MPI_T_PVAR_HANDLE_NULL, stale;
    MPI_Comm no_comm = (MPI_Comm)0x123456789;
    unsigned long long value = 0;
    int queue = find_pvar("MPI_T_UMQ_LENGTH", MPI_T_PVAR_CLASS_LEVEL);
    int handles = find_pvar("tool_pvar_handles", MPI_T_PVAR_CLASS_LEVEL);
    int most = find_pvar("tool_pvar_handles", MPI_T_PVAR_CLASS_HIGHWATERMARK);

    because(MPI_T_pvar_get_num(NULL), MPI_T_ERR_INVALID,
            "MPI_T_pvar_get_num: argument num_pvar is NULL, but an address is needed");
    because(MPI_T_pvar_get_info(-1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
            MPI_T_ERR_INVALID_INDEX, "MPI_T_pvar_get_info: argument pvar_index is -1, but there are %s");
    because(MPI_T_pvar_get_info(0, NULL, &negative, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
            MPI_T_ERR_INVALID, "MPI_T_pvar_get_info: argument name_len is -1, but a length must not be negative");
    because(MPI_T_pvar_get_index("p2p_message_sent", MPI_T_PVAR_CLASS_COUNTER, &index_of), MPI_T_ERR_INVALID_NAME,
            "MPI_T_pvar_get_index: argument name is \"p2p_message_sent\", but there is no performance variable of that "
            "name; did you mean \"p2p_messages_sent\"?");
    because(MPI_T_pvar_get_index("tool_pvar_handles", MPI_T_PVAR_CLASS_TIMER, &index_of), MPI_T_ERR_INVALID_NAME,
            "MPI_T_pvar_get_index: argument var_class is MPI_T_PVAR_CLASS_TIMER, but tool_pvar_handles is of the class "
            "MPI_T_PVAR_CLASS_LEVEL and of the class MPI_T_PVAR_CLASS_HIGHWATERMARK");
    because(MPI_T_pvar_get_index("tool_pvar_handles", 99, &index_of), MPI_T_ERR_INVALID_NAME,
            "MPI_T_pvar_get_index: argument var_class is 99, but a class is one of MPI_T_PVAR_CLASS_*");
    because(MPI_T_pvar_get_index(NULL, MPI_T_PVAR_CLASS_TIMER, &index_of), MPI_T_ERR_INVALID,
            "MPI_T_pvar_get_index: argument name is NULL, but an address is needed");

    because(MPI_T_pvar_session_create(NULL), MPI_T_ERR_INVALID,
            "MPI_T_pvar_session_create: argument session is NULL, but an address is needed");
    ok(MPI_T_pvar_session_create(&session));
    ok(MPI_T_pvar_session_create(&other));
    freed = other;
    ok(MPI_T_pvar_session_free(&other));
    because(MPI_T_pvar_session_free(&other), MPI_T_ERR_INVALID_SESSION,
            "MPI_T_pvar_session_free: argument session is MPI_T_PVAR_SESSION_NULL, but a live session is needed");
    because(MPI_T_pvar_session_free(&freed), MPI_T_ERR_INVALID_SESSION,
            "MPI_T_pvar_session_free: argument session is 0x%s, but no session has that handle any more: it was freed");

    because(MPI_T_pvar_handle_alloc(freed, handles, NULL, &handle, &number), MPI_T_ERR_INVALID_SESSION,
            "MPI_T_pvar_handle_alloc: argument session is 0x%s, but no session has that handle any more: it was freed");
    because(MPI_T_pvar_handle_alloc(session, 1 << 30, NULL, &handle, &number), MPI_T_ERR_INVALID_INDEX,
            "MPI_T_pvar_handle_alloc: argument pvar_index is 1073741824, but there are %s");
    because(MPI_T_pvar_handle_alloc(session, queue, NULL, &handle, &number), MPI_T_ERR_INVALID,
            "MPI_T_pvar_handle_alloc: argument obj_handle is NULL, but MPI_T_UMQ_LENGTH is bound to a communicator");
    because(MPI_T_pvar_handle_alloc(session, queue, &no_comm, &handle, &number), MPI_T_ERR_INVALID,
            "MPI_T_pvar_handle_alloc: argument obj_handle points to 0x123456789, but MPI_T_UMQ_LENGTH exists for no "
            "communicator with that handle");
    ok(MPI_T_pvar_handle_alloc(session, handles, NULL, &handle, &number));
    ok(MPI_T_pvar_handle_alloc(session, most, NULL, &stale, &number));
    none = stale;
    because(MPI_T_pvar_handle_free(session, NULL), MPI_T_ERR_INVALID,
            "MPI_T_pvar_handle_free: argument handle is NULL, but an address is needed");
    ok(MPI_T_pvar_handle_free(session, &none));
    because(MPI_T_pvar_handle_free(session, &none), MPI_T_ERR_INVALID_HANDLE,
            "MPI_T_pvar_handle_free: argument handle is MPI_T_PVAR_HANDLE_NULL, but a live handle is needed");

    because(MPI_T_pvar_read(session, handle, NULL), MPI_T_ERR_INVALID,
            "MPI_T_pvar_read: argument buf is NULL, but an address is needed");
    because(MPI_T_pvar_read(session, stale, &value), MPI_T_ERR_INVALID_HANDLE,
            "MPI_T_pvar_read: argument handle is 0x%s, but this session has no such handle: it was freed, or allocated "
            "in another session");
    because(MPI_T_pvar_read(session, (MPI_T_pvar_handle)session, &value), MPI_T_ERR_INVALID_HANDLE,
            "MPI_T_pvar_read: argument handle is 0x%s, but that is not a handle of a performance variable");
    because(MPI_T_pvar_read(session, MPI_T_PVAR_ALL_HANDLES, &value), MPI_T_ERR_INVALID_HANDLE,
            "MPI_T_pvar_read: argument handle is MPI_T_PVAR_ALL_HANDLES, but this call is for one handle at a time");
    because(MPI_T_pvar_read((MPI_T_pvar_session)handle, handle, &value), MPI_T_ERR_INVALID_SESSION,
            "MPI_T_pvar_read: argument session is 0x%s, but that is not a handle of a session");
    because(MPI_T_pvar_write(session, handle, &value), MPI_T_ERR_PVAR_NO_WRITE,
            "MPI_T_pvar_write: argument handle is 0x%s cannot be written or reset: it is readonly");
    because(MPI_T_pvar_write(session, handle, NULL), MPI_T_ERR_INVALID,
            "MPI_T_pvar_write: argument buf is NULL, but an address is needed");
    because(MPI_T_pvar_reset(session, handle), MPI_T_ERR_PVAR_NO_WRITE,
            "MPI_T_pvar_reset: argument handle is 0x%s cannot be written or reset: it is readonly");
    because(MPI_T_pvar_readreset(session, handle, &value), MPI_T_ERR_PVAR_NO_ATOMIC,
            "MPI_T_pvar_readreset: argument handle is 0x%s cannot be read and reset in one step: it is not atomic");
    because(MPI_T_pvar_readreset(session, handle, NULL), MPI_T_ERR_INVALID,
            "MPI_T_pvar_readreset: argument buf is NULL, but an address is needed");
    ok(MPI_T_pvar_handle_alloc(session, find_pvar("fabric_job_memory", MPI_T_PVAR_CLASS_SIZE), NULL, &size, &number));
    because(MPI_T_pvar_start(session, size), MPI_T_ERR_PVAR_NO_STARTSTOP,
            "MPI_T_pvar_start: argument handle is 0x%s cannot be started or stopped: it is continuous");
    because(MPI_T_pvar_stop(session, size), MPI_T_ERR_PVAR_NO_STARTSTOP,
            "MPI_T_pvar_stop: argument handle is 0x%s cannot be started or stopped: it is continuous");
    because(MPI_T_pvar_stop(freed, MPI_T_PVAR_ALL_HANDLES), MPI_T_ERR_INVALID_SESSION,
            "MPI_T_pvar_stop: argument session is 0x%s, but no session has that handle any more: it was freed");
    ok(MPI_T_pvar_session_free(&session));
}

static void cvars(void)
{
    MPI_T_cvar_handle handle, stale;
    long long bad = -1;
    int eager;

    because(MPI_T_cvar_get_num(NULL), MPI_T_ERR_INVALID,
            "MPI_T_cvar_get_num: argument num_cvar is NULL, but an address is needed");
    because(MPI_T_cvar_get_info(-7, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX,
            "MPI_T_cvar_get_info: argument cvar_index is -7, but there are %s");
    because(MPI_T_cvar_get_index("p2p_eager_limt", &index_of), MPI_T_ERR_INVALID_NAME,
            "MPI_T_cvar_get_index: argument name is \"p2p_eager_limt\", but there is no control variable of that name; "
            "did you mean \"p2p_eager_limit\"?");
    ok(MPI_T_cvar_get_index("p2p_comm_eager_limit", &index_of));
    because(MPI_T_cvar_handle_alloc(index_of, NULL, &handle, &number), MPI_T_ERR_INVALID,
            "MPI_T_cvar_handle_alloc: argument obj_handle is NULL, but p2p_comm_eager_limit is bound to a "
            "communicator");
    ok(MPI_T_cvar_get_index("p2p_eager_limit", &eager));
    ok(MPI_T_cvar_handle_alloc(eager, NULL, &handle, &number));
    because(MPI_T_cvar_write(handle, &bad), MPI_T_ERR_INVALID,
            "MPI_T_cvar_write: the value is 18446744073709551615, but p2p_eager_limit of type "
            "MPI_UNSIGNED_LONG_LONG takes a whole number from 0 to %s (bytes)");
    because(MPI_T_cvar_write(handle, NULL), MPI_T_ERR_INVALID,
            "MPI_T_cvar_write: argument buf is NULL, but an address is needed");
    because(MPI_T_cvar_read(handle, NULL), MPI_T_ERR_INVALID,
            "MPI_T_cvar_read: argument buf is NULL, but an address is needed");
    stale = handle;
    ok(MPI_T_cvar_handle_free(&handle));
    because(MPI_T_cvar_handle_free(&handle), MPI_T_ERR_INVALID_HANDLE,
            "MPI_T_cvar_handle_free: argument handle is MPI_T_CVAR_HANDLE_NULL, but a live handle is needed");
    because(MPI_T_cvar_read(stale, &bad), MPI_T_ERR_INVALID_HANDLE,
            "MPI_T_cvar_read: argument handle is 0x%s, but it was freed, or the object that it is bound to was");
    because(MPI_T_cvar_write((MPI_T_cvar_handle)0x77777777, &bad), MPI_T_ERR_INVALID_HANDLE,
            "MPI_T_cvar_write: argument handle is 0x77777777, but that is not a handle of a control variable");
}

static void categories_and_enumerations(void)
{
    because(MPI_T_category_get_num(NULL), MPI_T_ERR_INVALID,
            "MPI_T_category_get_num: argument num_cat is NULL, but an address is needed");
    because(MPI_T_category_get_info(-1, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX,
            "MPI_T_category_get_info: argument cat_index is -1, but there are %s");
    because(MPI_T_category_get_index("too", &index_of), MPI_T_ERR_INVALID_NAME,
            "MPI_T_category_get_index: argument name is \"too\", but there is no category of that name; did you mean "
            "\"tool\"?");
    because(MPI_T_category_get_cvars(-1, 0, NULL), MPI_T_ERR_INVALID_INDEX,
            "MPI_T_category_get_cvars: argument cat_index is -1, but there are %s");
    because(MPI_T_category_get_cvars(0, -2, NULL), MPI_T_ERR_INVALID,
            "MPI_T_category_get_cvars: argument len is -2, but a length must not be negative");
    because(MPI_T_category_get_pvars(0, 1, NULL), MPI_T_ERR_INVALID,
            "MPI_T_category_get_pvars: argument indices is NULL, but an address is needed");
    because(MPI_T_category_get_categories(-1, 0, NULL), MPI_T_ERR_INVALID_INDEX,
            "MPI_T_category_get_categories: argument cat_index is -1, but there are %s");
    because(MPI_T_category_get_events(-1, 0, NULL), MPI_T_ERR_INVALID_INDEX,
            "MPI_T_category_get_events: argument cat_index is -1, but there are %s");
    because(MPI_T_category_get_num_events(0, NULL), MPI_T_ERR_INVALID,
            "MPI_T_category_get_num_events: argument num_events is NULL, but an address is needed");
    because(MPI_T_category_changed(NULL), MPI_T_ERR_INVALID,
            "MPI_T_category_changed: argument stamp is NULL, but an address is needed");

    MPI_T_enum items = pvar_info(find_pvar("process_state", MPI_T_PVAR_CLASS_STATE)).items;
    because(MPI_T_enum_get_item(items, 99, &number, NULL, NULL), MPI_T_ERR_INVALID_INDEX,
            "MPI_T_enum_get_item: argument indx is 99, but there are %s");
    because(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &number, NULL, NULL), MPI_T_ERR_INVALID_HANDLE,
            "MPI_T_enum_get_info: argument enumtype is MPI_T_ENUM_NULL, but a live handle is needed");
}

static void events(void)
{
    MPI_T_event_registration registration, freed;
    MPI_T_cvar_handle cvar;
    MPI_Info info;
    MPI_Count time;
    MPI_T_event_instance instance;
    unsigned long long limit = 4096;
    int set = find_event("tool_cvar_set"), eager;

    because(MPI_T_source_get_num(NULL), MPI_T_ERR_INVALID,
            "MPI_T_source_get_num: argument num_sources is NULL, but an address is needed");
    because(MPI_T_source_get_info(-1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), MPI_T_ERR_INVALID_INDEX,
            "MPI_T_source_get_info: argument source_index is -1, but there are %s");
    because(MPI_T_source_get_timestamp(-1, &time), MPI_T_ERR_INVALID_INDEX,
            "MPI_T_source_get_timestamp: argument source_index is -1, but there are %s");
    because(MPI_T_event_get_num(NULL), MPI_T_ERR_INVALID,
            "MPI_T_event_get_num: argument num_events is NULL, but an address is needed");
    because(MPI_T_event_get_index("p2p_matchd", &index_of), MPI_T_ERR_INVALID_NAME,
            "MPI_T_event_get_index: argument name is \"p2p_matchd\", but there is no event type of that name; did you "
            "mean \"p2p_matched\"?");
    because(MPI_T_event_get_info(-1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
            MPI_T_ERR_INVALID_INDEX, "MPI_T_event_get_info: argument event_index is -1, but there are %s");
    because(MPI_T_event_get_info(set, NULL, NULL, NULL, NULL, NULL, &negative, NULL, NULL, NULL, NULL, NULL),
            MPI_T_ERR_INVALID, "MPI_T_event_get_info: argument num_elements is -1, but a length must not be negative");
    because(MPI_T_event_handle_alloc(set, NULL, (MPI_Info)0x123456789, &registration), MPI_T_ERR_INVALID,
            "MPI_T_event_handle_alloc: argument info is 0x123456789, but no live info object has that handle");
    ok(MPI_Info_create(&info));
    ok(MPI_Info_set(info, "ferrum_waiting_events", "none"));
    because(MPI_T_event_handle_alloc(set, NULL, info, &registration), MPI_T_ERR_INVALID,
            "MPI_T_event_handle_alloc: argument info has ferrum_waiting_events = \"none\", but it takes a whole number "
            "from 1 to 1048576");
    because(MPI_T_event_handle_alloc(find_event("p2p_matched"), NULL, MPI_INFO_NULL, &registration), MPI_T_ERR_INVALID,
            "MPI_T_event_handle_alloc: argument obj_handle is NULL, but p2p_matched is bound to a communicator");
    ok(MPI_T_event_handle_alloc(set, NULL, MPI_INFO_NULL, &registration));
    because(MPI_T_event_handle_set_info(registration, info), MPI_T_ERR_INVALID,
            "MPI_T_event_handle_set_info: argument info has ferrum_waiting_events = \"none\", but it takes a whole "
            "number from 1 to 1048576");
    ok(MPI_Info_free(&info));
    because(MPI_T_event_handle_get_info(registration, NULL), MPI_T_ERR_INVALID,
            "MPI_T_event_handle_get_info: argument info_used is NULL, but an address is needed");
    because(MPI_T_event_register_callback(registration, 7, MPI_INFO_NULL, NULL, on_set), MPI_T_ERR_INVALID,
            "MPI_T_event_register_callback: argument cb_safety is 7, but a level is one of MPI_T_CB_REQUIRE_*");
    because(MPI_T_event_callback_set_info(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL), MPI_T_ERR_INVALID,
            "MPI_T_event_callback_set_info: argument cb_safety is MPI_T_CB_REQUIRE_NONE, but the registration has no "
            "callback of that level");
    because(MPI_T_event_callback_get_info(registration, MPI_T_CB_REQUIRE_NONE, &info), MPI_T_ERR_INVALID,
            "MPI_T_event_callback_get_info: argument cb_safety is MPI_T_CB_REQUIRE_NONE, but the registration has no "
            "callback of that level");
    ok(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, on_set));
    ok(MPI_T_cvar_get_index("p2p_eager_limit", &eager));
    ok(MPI_T_cvar_handle_alloc(eager, NULL, &cvar, &number));
    ok(MPI_T_cvar_write(cvar, &limit));
    ok(MPI_T_cvar_handle_free(&cvar));
    MPI_Initialized(&number);
    instance = last_instance;
    because(MPI_T_event_get_timestamp(instance, &time), MPI_T_ERR_INVALID_HANDLE,
            "MPI_T_event_get_timestamp: argument event_instance is 0x%s, but an instance is valid only until its "
            "callback has returned");
    because(MPI_T_event_get_source(instance, &number), MPI_T_ERR_INVALID_HANDLE,
            "MPI_T_event_get_source: argument event_instance is 0x%s, but an instance is valid only until its callback "
            "has returned");
    freed = registration;
    ok(MPI_T_event_handle_free(registration, NULL, NULL));
    because(MPI_T_event_handle_free(freed, NULL, NULL), MPI_T_ERR_INVALID_HANDLE,
            "MPI_T_event_handle_free: argument event_registration is 0x%s, but it was freed");
    because(MPI_T_event_set_dropped_handler(freed, NULL), MPI_T_ERR_INVALID_HANDLE,
            "MPI_T_event_set_dropped_handler: argument event_registration is 0x%s, but it was freed");
}

int main(int argc, char **argv)
{
    check(strcmp(ferrum_tool_error(), "") == 0);
    because(MPI_T_pvar_get_num(&number), MPI_T_ERR_NOT_INITIALIZED,
            "MPI_T_pvar_get_num: the tool interface is not initialized; call MPI_T_init_thread first");
    because(MPI_T_pvar_read((MPI_T_pvar_session)1, (MPI_T_pvar_handle)1, &number), MPI_T_ERR_NOT_INITIALIZED,
            "MPI_T_pvar_read: the tool interface is not initialized; call MPI_T_init_thread first");
    because(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED,
            "MPI_T_finalize: the tool interface is not initialized; call MPI_T_init_thread first");
    because(MPI_T_init_thread(MPI_THREAD_SINGLE, NULL), MPI_T_ERR_INVALID,
            "MPI_T_init_thread: argument provided is NULL, but an address is needed");
    tool_begin();
    MPI_Init(&argc, &argv);
    identify();
    pvars();
    cvars();
    categories_and_enumerations();
    events();
    /* A call that succeeds leaves the reason as it is. */
    ok(MPI_T_pvar_get_num(&number));
    check(strncmp(ferrum_tool_error(), "MPI_T_event_set_dropped_handler: ", 33) == 0);
    return finish();
}
