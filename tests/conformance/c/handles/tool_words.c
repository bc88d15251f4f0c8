/* Whatever word is passed as a session, handle, enumeration, registration or instance of the tool information
 * interface, to whichever function takes one, the call returns the code made for that and stores nothing: null,
 * zeroed, freed and forged words, those of another session, of another kind, of MPI objects, addresses that can be
 * read and addresses that cannot. */
#define _DEFAULT_SOURCE
#include "tool/events.h"
#include <stdint.h>
#include <sys/mman.h>

enum { ENUMS = 200 };
static uintptr_t words[14000];
static int word_count, index_of_pvar;
static MPI_T_pvar_session session, other_session;
static MPI_T_pvar_handle handle, foreign_handle;
static MPI_T_cvar_handle cvar;
static MPI_T_event_registration registration;
static MPI_T_enum enums[ENUMS];
static int enum_count, calls;
static unsigned long long value[8] = {7, 7, 7, 7, 7, 7, 7, 7};

static void add(uintptr_t word)
{
    if (word_count < (int)(sizeof words / sizeof *words))
        words[word_count++] = word;
}

static void never(MPI_T_event_instance i, MPI_T_event_registration r, MPI_T_cb_safety s, void *data)
{
    calls++;
}

static void never_freed(MPI_T_event_registration r, MPI_T_cb_safety s, void *data)
{
    calls++;
}

static void as_session(uintptr_t word)
{
    MPI_T_pvar_session s = (MPI_T_pvar_session)word;
    MPI_T_pvar_handle h = handle, made = (MPI_T_pvar_handle)5, all = MPI_T_PVAR_ALL_HANDLES;
    MPI_Comm comm = MPI_COMM_SELF;
    int count = -5;
    if (s == session || s == other_session)
        return;
    check_equal(MPI_T_pvar_read(s, handle, value), MPI_T_ERR_INVALID_SESSION);
    check_equal(MPI_T_pvar_write(s, handle, value), MPI_T_ERR_INVALID_SESSION);
    check_equal(MPI_T_pvar_readreset(s, handle, value), MPI_T_ERR_INVALID_SESSION);
    check_equal(MPI_T_pvar_start(s, handle), MPI_T_ERR_INVALID_SESSION);
    check_equal(MPI_T_pvar_stop(s, handle), MPI_T_ERR_INVALID_SESSION);
    check_equal(MPI_T_pvar_reset(s, handle), MPI_T_ERR_INVALID_SESSION);
    check_equal(MPI_T_pvar_start(s, all), MPI_T_ERR_INVALID_SESSION);
    check_equal(MPI_T_pvar_stop(s, all), MPI_T_ERR_INVALID_SESSION);
    check_equal(MPI_T_pvar_reset(s, all), MPI_T_ERR_INVALID_SESSION);
    check_equal(MPI_T_pvar_handle_alloc(s, index_of_pvar, &comm, &made, &count), MPI_T_ERR_INVALID_SESSION);
    check_equal(MPI_T_pvar_handle_free(s, &h), MPI_T_ERR_INVALID_SESSION);
    check_equal(MPI_T_pvar_session_free(&s), MPI_T_ERR_INVALID_SESSION);
    check((uintptr_t)s == word && h == handle && made == (MPI_T_pvar_handle)5 && count == -5);
}

static void as_handle(uintptr_t word)
{
    MPI_T_pvar_handle h = (MPI_T_pvar_handle)word;
    if (h == handle)
        return;
    check_equal(MPI_T_pvar_read(session, h, value), MPI_T_ERR_INVALID_HANDLE);
    check_equal(MPI_T_pvar_write(session, h, value), MPI_T_ERR_INVALID_HANDLE);
    check_equal(MPI_T_pvar_readreset(session, h, value), MPI_T_ERR_INVALID_HANDLE);
    check_equal(MPI_T_pvar_handle_free(session, &h), MPI_T_ERR_INVALID_HANDLE);
    check((uintptr_t)h == word);
    if (h == MPI_T_PVAR_ALL_HANDLES)
        return;
    check_equal(MPI_T_pvar_start(session, h), MPI_T_ERR_INVALID_HANDLE);
    check_equal(MPI_T_pvar_stop(session, h), MPI_T_ERR_INVALID_HANDLE);
    check_equal(MPI_T_pvar_reset(session, h), MPI_T_ERR_INVALID_HANDLE);
}

static void as_cvar(uintptr_t word)
{
    MPI_T_cvar_handle c = (MPI_T_cvar_handle)word;
    if (c == cvar)
        return;
    check_equal(MPI_T_cvar_read(c, value), MPI_T_ERR_INVALID_HANDLE);
    check_equal(MPI_T_cvar_write(c, value), MPI_T_ERR_INVALID_HANDLE);
    check_equal(MPI_T_cvar_handle_free(&c), MPI_T_ERR_INVALID_HANDLE);
    check((uintptr_t)c == word);
}

static void as_enum(uintptr_t word)
{
    MPI_T_enum e = (MPI_T_enum)word;
    char name[8] = "xxxxxxx";
    int number = -5, item = -5, length = sizeof name;
    for (int i = 0; i < enum_count; i++)
        if (enums[i] == e)
            return;
    check_equal(MPI_T_enum_get_info(e, &number, name, &length), MPI_T_ERR_INVALID_HANDLE);
    check_equal(MPI_T_enum_get_item(e, 0, &item, name, &length), MPI_T_ERR_INVALID_HANDLE);
    check(number == -5 && item == -5 && length == sizeof name && name[0] == 'x');
}

static void as_registration(uintptr_t word)
{
    MPI_T_event_registration r = (MPI_T_event_registration)word;
    MPI_Info info = MPI_INFO_NULL;
    if (r == registration)
        return;
    check_equal(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, never),
                MPI_T_ERR_INVALID_HANDLE);
    check_equal(MPI_T_event_callback_set_info(r, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL), MPI_T_ERR_INVALID_HANDLE);
    check_equal(MPI_T_event_callback_get_info(r, MPI_T_CB_REQUIRE_NONE, &info), MPI_T_ERR_INVALID_HANDLE);
    check_equal(MPI_T_event_handle_set_info(r, MPI_INFO_NULL), MPI_T_ERR_INVALID_HANDLE);
    check_equal(MPI_T_event_handle_get_info(r, &info), MPI_T_ERR_INVALID_HANDLE);
    check_equal(MPI_T_event_set_dropped_handler(r, NULL), MPI_T_ERR_INVALID_HANDLE);
    check_equal(MPI_T_event_handle_free(r, NULL, never_freed), MPI_T_ERR_INVALID_HANDLE);
    check(info == MPI_INFO_NULL);
}

/* No event is under way, so no word is an instance. */
static void as_instance(uintptr_t word)
{
    MPI_T_event_instance instance = (MPI_T_event_instance)word;
    MPI_Count time = -5;
    int source = -5;
    check_equal(MPI_T_event_read(instance, 0, value), MPI_T_ERR_INVALID_HANDLE);
    check_equal(MPI_T_event_copy(instance, value), MPI_T_ERR_INVALID_HANDLE);
    check_equal(MPI_T_event_get_timestamp(instance, &time), MPI_T_ERR_INVALID_HANDLE);
    check_equal(MPI_T_event_get_source(instance, &source), MPI_T_ERR_INVALID_HANDLE);
    check(time == -5 && source == -5);
}

static void on_set(MPI_T_event_instance instance, MPI_T_event_registration r, MPI_T_cb_safety s, void *data)
{
    add((uintptr_t)instance);
}

/* One of each that is freed, and the instance of an event whose callback has returned. */
static void add_freed(void)
{
    MPI_T_pvar_session freed_session, s;
    MPI_T_pvar_handle freed_handle;
    MPI_T_cvar_handle freed_cvar;
    MPI_T_event_registration freed;
    MPI_Comm comm = MPI_COMM_SELF;
    int count, cvar_index;
    unsigned long long limit = 3000;
    ok(MPI_T_pvar_session_create(&freed_session));
    s = freed_session;
    ok(MPI_T_pvar_handle_alloc(session, index_of_pvar, &comm, &freed_handle, &count));
    ok(MPI_T_cvar_get_index("p2p_eager_limit", &cvar_index));
    ok(MPI_T_cvar_handle_alloc(cvar_index, NULL, &freed_cvar, &count));
    freed = add_callback("tool_cvar_set", MPI_COMM_NULL, MPI_T_CB_REQUIRE_NONE, on_set, NULL);
    int before = word_count;
    ok(MPI_T_cvar_write(freed_cvar, &limit));
    check_equal(word_count, before + 1);
    add((uintptr_t)s), add((uintptr_t)freed_handle), add((uintptr_t)freed_cvar), add((uintptr_t)freed);
    ok(MPI_T_pvar_session_free(&freed_session));
    ok(MPI_T_pvar_handle_free(session, &freed_handle));
    ok(MPI_T_cvar_handle_free(&freed_cvar));
    ok(MPI_T_event_handle_free(freed, NULL, NULL));
}

static void add_others(void)
{
    static MPI_Comm comm;
    static MPI_Datatype type;
    static MPI_Group group;
    static MPI_Info info;
    char *unmapped = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(munmap(unmapped, 8192) == 0);
    ok(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    ok(MPI_Type_dup(MPI_INT, &type));
    ok(MPI_Comm_group(comm, &group));
    ok(MPI_Info_create(&info));
    uintptr_t others[] = {(uintptr_t)comm, (uintptr_t)type, (uintptr_t)group, (uintptr_t)info,
                          (uintptr_t)MPI_COMM_WORLD, (uintptr_t)unmapped, (uintptr_t)unmapped + 4096, (uintptr_t)words,
                          (uintptr_t)&session, (uintptr_t)never, (uintptr_t)MPI_T_PVAR_ALL_HANDLES, ~(uintptr_t)0,
                          (uintptr_t)1 << 63};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        add(others[i]);
}

static void add_enums(int (*number_of)(int *), MPI_T_enum (*enum_of)(int))
{
    int number = 0;
    ok(number_of(&number));
    for (int i = 0; i < number && enum_count < ENUMS; i++) {
        MPI_T_enum e = enum_of(i);
        if (e != MPI_T_ENUM_NULL)
            enums[enum_count++] = e;
    }
    check(enum_count < ENUMS);
}

static MPI_T_enum of_pvar(int index)
{
    return pvar_info(index).items;
}

static MPI_T_enum of_cvar(int index)
{
    MPI_T_enum e = MPI_T_ENUM_NULL;
    ok(MPI_T_cvar_get_info(index, NULL, NULL, NULL, NULL, &e, NULL, NULL, NULL, NULL));
    return e;
}

static MPI_T_enum of_event(int index)
{
    MPI_T_enum e = MPI_T_ENUM_NULL;
    ok(MPI_T_event_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, &e, NULL, NULL, NULL, NULL));
    return e;
}

int main(int argc, char **argv)
{
    int provided, count;
    uint64_t state = 88172645463325252u;
    MPI_Comm comm = MPI_COMM_SELF;
    begin(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    ok(MPI_T_pvar_session_create(&session));
    ok(MPI_T_pvar_session_create(&other_session));
    index_of_pvar = find_pvar("p2p_messages_sent", MPI_T_PVAR_CLASS_COUNTER);
    ok(MPI_T_pvar_handle_alloc(session, index_of_pvar, &comm, &handle, &count));
    ok(MPI_T_pvar_handle_alloc(other_session, index_of_pvar, &comm, &foreign_handle, &count));
    ok(MPI_T_pvar_start(other_session, foreign_handle));
    ok(MPI_T_cvar_handle_alloc(0, NULL, &cvar, &count));
    ok(MPI_T_event_handle_alloc(find_event("tool_cvar_set"), NULL, MPI_INFO_NULL, &registration));
    add_enums(MPI_T_pvar_get_num, of_pvar);
    add_enums(MPI_T_cvar_get_num, of_cvar);
    add_enums(MPI_T_event_get_num, of_event);
    add_freed();
    add_others();
    for (uintptr_t word = 0; word < 4097; word++)
        add(word);
    uintptr_t valid[] = {(uintptr_t)session, (uintptr_t)handle, (uintptr_t)foreign_handle, (uintptr_t)cvar,
                        (uintptr_t)registration, (uintptr_t)enums[0], words[0]};
    for (int i = 0; i < 7; i++) {
        add(valid[i]);
        for (int bit = 0; bit < 64; bit++)
            add(valid[i] ^ ((uintptr_t)1 << bit));
    }
    for (int i = 0; i < 3000; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        add((uintptr_t)state >> (i % 5 * 12));
    }
    for (int i = 0; i < word_count; i++) {
        int before = wrong;
        as_session(words[i]);
        as_handle(words[i]);
        as_cvar(words[i]);
        as_enum(words[i]);
        as_registration(words[i]);
        as_instance(words[i]);
        if (wrong > before && wrong < 20)
            fprintf(stderr, "... with %#lx\n", (unsigned long)words[i]);
    }
    check(value[0] == 7 && value[7] == 7 && calls == 0);
    /* The valid ones are unchanged. */
    check_equal(read_pvar(session, handle), 0);
    ok(MPI_Sendrecv(&provided, 1, MPI_INT, 0, 0, &count, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE));
    check_equal(read_pvar(other_session, foreign_handle), 1);
    ok(MPI_T_event_handle_free(registration, NULL, NULL));
    ok(MPI_T_cvar_handle_free(&cvar));
    ok(MPI_T_pvar_session_free(&session));
    ok(MPI_T_pvar_session_free(&other_session));
    MPI_T_finalize();
    return finish();
}
