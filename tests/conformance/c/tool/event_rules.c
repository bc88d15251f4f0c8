/* Events before MPI_Init: inquiry with every argument optional, registering, reading, copying, freeing, and the code
 * for every wrong index, handle, level and address. */
#include "events.h"

static MPI_T_event_registration expected_registration;
static MPI_T_event_instance last_instance;
static int calls, frees, index_of_cvar;

static void on_set(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                   void *data)
{
    struct { int index; double value; } copy = {-1, -1};
    MPI_Count time = -1, now = -1;
    int source = -1;
    calls++;
    check(registration == expected_registration && data == (void *)&calls);
    check_equal(safety, MPI_T_CB_REQUIRE_NONE);
    check_equal(int_element(instance, 0), index_of_cvar);
    ok(MPI_T_event_copy(instance, &copy));
    check(copy.index == index_of_cvar && copy.value == 4096);
    /* No byte beyond the element, or beyond all elements, is written. */
    unsigned char bytes[24];
    memset(bytes, 0xa5, sizeof bytes);
    ok(MPI_T_event_read(instance, 0, bytes));
    check(memcmp(bytes, &copy.index, 4) == 0 && bytes[4] == 0xa5 && bytes[7] == 0xa5);
    ok(MPI_T_event_read(instance, 1, bytes));
    check(memcmp(bytes, &copy.value, 8) == 0 && bytes[8] == 0xa5);
    ok(MPI_T_event_copy(instance, bytes));
    check(memcmp(bytes, &copy.index, 4) == 0 && memcmp(bytes + 8, &copy.value, 8) == 0 && bytes[16] == 0xa5);
    ok(MPI_T_event_get_timestamp(instance, &time));
    ok(MPI_T_event_get_source(instance, &source));
    ok(MPI_T_source_get_timestamp(source, &now));
    check(time > 0 && time <= now);
    check_class(MPI_T_event_read(instance, 2, &copy), MPI_T_ERR_INVALID_INDEX);
    check_class(MPI_T_event_read(instance, -1, &copy), MPI_T_ERR_INVALID_INDEX);
    check_class(MPI_T_event_read(instance, 0, NULL), MPI_T_ERR_INVALID);
    check_class(MPI_T_event_copy(instance, NULL), MPI_T_ERR_INVALID);
    check_class(MPI_T_event_get_timestamp(instance, NULL), MPI_T_ERR_INVALID);
    check_class(MPI_T_event_get_source(instance, NULL), MPI_T_ERR_INVALID);
    last_instance = instance;
}

static void on_free(MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data)
{
    check(registration == expected_registration && data == (void *)&frees);
    check_equal(safety, MPI_T_CB_REQUIRE_NONE);
    frees++;
}

static void sources(void)
{
    int num = -1;
    ok(MPI_T_source_get_num(&num));
    check(num >= 1);
    for (int i = 0; i < num; i++) {
        char name[64], description[256], cut[4];
        int name_length = sizeof name, description_length = sizeof description, cut_length = sizeof cut, keys = -1;
        MPI_T_source_order order;
        MPI_Count ticks = -1, most = -1;
        MPI_Info info = MPI_INFO_NULL;
        ok(MPI_T_source_get_info(i, name, &name_length, description, &description_length, &order, &ticks, &most,
                                 &info));
        check(name[0] && description[0] && name_length == (int)strlen(name) + 1);
        check_equal(order, MPI_T_SOURCE_ORDERED);
        check_equal(ticks, 1000000000);
        check(most > 0);
        ok(MPI_Info_get_nkeys(info, &keys));
        ok(MPI_Info_free(&info));
        ok(MPI_T_source_get_info(i, cut, &cut_length, NULL, NULL, NULL, NULL, NULL, NULL));
        check(strlen(cut) == 3 && strncmp(cut, name, 3) == 0 && cut_length == name_length);
    }
    int bad[] = {-1, num, 0x7fffffff};
    for (int i = 0; i < 3; i++) {
        MPI_Count time;
        check_class(MPI_T_source_get_info(bad[i], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
                    MPI_T_ERR_INVALID_INDEX);
        check_class(MPI_T_source_get_timestamp(bad[i], &time), MPI_T_ERR_INVALID_INDEX);
    }
    check_class(MPI_T_source_get_num(NULL), MPI_T_ERR_INVALID);
    check_class(MPI_T_source_get_timestamp(0, NULL), MPI_T_ERR_INVALID);
}

static void types(void)
{
    int num = -1;
    ok(MPI_T_event_get_num(&num));
    for (int i = 0; i < num; i++) {
        char name[128], description[512];
        int name_length = sizeof name, description_length = sizeof description, verbosity, elements = 16, bind;
        int index = -1;
        int items = -1, one = 1;
        MPI_Datatype datatypes[16], first[2] = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
        MPI_Aint displacements[16];
        MPI_T_enum names;
        MPI_Info info;
        ok(MPI_T_event_get_info(i, name, &name_length, &verbosity, datatypes, displacements, &elements, &names, &info,
                                description, &description_length, &bind));
        check(name[0] && description[0] && elements <= 16);
        check(verbosity >= MPI_T_VERBOSITY_USER_BASIC && verbosity <= MPI_T_VERBOSITY_MPIDEV_ALL);
        if (strcmp(name, "p2p_matched") == 0)
            check_equal(verbosity, MPI_T_VERBOSITY_USER_DETAIL);
        if (strcmp(name, "p2p_rendezvous_begin") == 0)
            check_equal(verbosity, MPI_T_VERBOSITY_TUNER_DETAIL);
        int of_comm = strncmp(name, "p2p_", 4) == 0 && strncmp(name, "p2p_wait", 8) != 0;
        if (of_comm || strcmp(name, "coll_begin") == 0)
            check_equal(bind, MPI_T_BIND_MPI_COMM);
        if (strcmp(name, "tool_cvar_set") == 0 || strncmp(name, "p2p_wait", 8) == 0)
            check_equal(bind, MPI_T_BIND_NO_OBJECT);
        if (strcmp(name, "tool_cvar_set") == 0)
            check(elements == 2 && datatypes[0] == MPI_INT && datatypes[1] == MPI_DOUBLE && displacements[1] == 8);
        for (int e = 0; e < elements; e++)
            check(datatypes[e] == MPI_INT || datatypes[e] == MPI_UNSIGNED || datatypes[e] == MPI_UNSIGNED_LONG_LONG ||
                  datatypes[e] == MPI_DOUBLE);
        ok(MPI_Info_free(&info));
        ok(MPI_T_event_get_index(name, &index));
        check_equal(index, i);
        if (elements == 0)
            continue;
        ok(MPI_T_enum_get_info(names, &items, NULL, NULL));
        check_equal(items, elements);
        for (int e = 0; e < elements; e++) {
            int of = -1;
            char element[64];
            int length = sizeof element;
            check(datatypes[e] != MPI_DATATYPE_NULL);
            check(e == 0 ? displacements[e] == 0 : displacements[e] > displacements[e - 1]);
            ok(MPI_T_enum_get_item(names, e, &of, element, &length));
            check(of == e && element[0]);
        }
        /* There is room for one element: only that is written, and the number of all is returned. */
        ok(MPI_T_event_get_info(i, NULL, NULL, NULL, first, NULL, &one, NULL, NULL, NULL, NULL, NULL));
        check(one == elements && first[0] == datatypes[0] && first[1] == MPI_DATATYPE_NULL);
        ok(MPI_T_event_get_info(i, NULL, NULL, NULL, datatypes, displacements, NULL, NULL, NULL, NULL, NULL, NULL));
    }
    int bad[] = {-1, num, 0x7fffffff};
    MPI_T_event_registration none;
    for (int i = 0; i < 3; i++) {
        check_class(MPI_T_event_get_info(bad[i], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
                    MPI_T_ERR_INVALID_INDEX);
        check_class(MPI_T_event_handle_alloc(bad[i], NULL, MPI_INFO_NULL, &none), MPI_T_ERR_INVALID_INDEX);
    }
    check_class(MPI_T_event_get_num(NULL), MPI_T_ERR_INVALID);
    check_class(MPI_T_event_get_index("no such event", &num), MPI_T_ERR_INVALID_NAME);
    check_class(MPI_T_event_get_index(NULL, &num), MPI_T_ERR_INVALID);
    check_class(MPI_T_event_get_index("tool_cvar_set", NULL), MPI_T_ERR_INVALID);
}

static void bad_handle(MPI_T_event_registration bad)
{
    MPI_Info info = MPI_INFO_NULL;
    check_class(MPI_T_event_register_callback(bad, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, on_set),
                MPI_T_ERR_INVALID_HANDLE);
    check_class(MPI_T_event_set_dropped_handler(bad, NULL), MPI_T_ERR_INVALID_HANDLE);
    check_class(MPI_T_event_handle_set_info(bad, MPI_INFO_NULL), MPI_T_ERR_INVALID_HANDLE);
    check_class(MPI_T_event_handle_get_info(bad, &info), MPI_T_ERR_INVALID_HANDLE);
    check_class(MPI_T_event_callback_set_info(bad, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL), MPI_T_ERR_INVALID_HANDLE);
    check_class(MPI_T_event_callback_get_info(bad, MPI_T_CB_REQUIRE_NONE, &info), MPI_T_ERR_INVALID_HANDLE);
    check_class(MPI_T_event_handle_free(bad, NULL, on_free), MPI_T_ERR_INVALID_HANDLE);
    check(info == MPI_INFO_NULL);
}

/* The only hint in use is the capacity of the queue of events. */
static void capacity_is(MPI_T_event_registration registration, int capacity)
{
    MPI_Info info;
    char value[16] = "";
    int keys = -1, length = sizeof value, flag = 0;
    ok(MPI_T_event_handle_get_info(registration, &info));
    ok(MPI_Info_get_nkeys(info, &keys));
    check_equal(keys, 1);
    ok(MPI_Info_get_string(info, "ferrum_waiting_events", &length, value, &flag));
    check(flag && atoi(value) == capacity);
    ok(MPI_Info_free(&info));
}

int main(int argc, char **argv)
{
    int at, count;
    long long value = 4096;
    MPI_T_cvar_handle cvar;
    MPI_T_event_registration registration;
    MPI_Info info, other = (MPI_Info)0x123456789;
    check_class(MPI_T_event_get_num(&count), MPI_T_ERR_NOT_INITIALIZED);
    check_class(MPI_T_source_get_num(&count), MPI_T_ERR_NOT_INITIALIZED);
    tool_begin();
    sources();
    types();
    ok(MPI_T_cvar_get_index("p2p_eager_limit", &index_of_cvar));
    ok(MPI_T_cvar_handle_alloc(index_of_cvar, NULL, &cvar, &count));
    at = find_event("tool_cvar_set");
    check_class(MPI_T_event_handle_alloc(at, NULL, MPI_INFO_NULL, NULL), MPI_T_ERR_INVALID);
    check_class(MPI_T_event_handle_alloc(at, NULL, other, &registration), MPI_T_ERR_INVALID);
    ok(MPI_T_event_handle_alloc(at, NULL, MPI_INFO_NULL, &registration));
    expected_registration = registration;
    check_class(MPI_T_event_register_callback(registration, 7, MPI_INFO_NULL, NULL, on_set), MPI_T_ERR_INVALID);
    check_class(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, other, NULL, on_set),
                MPI_T_ERR_INVALID);
    ok(MPI_T_cvar_write(cvar, &value));
    check_equal(calls, 0);
    ok(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &calls, on_set));
    ok(MPI_T_cvar_write(cvar, &value));
    check_equal(calls, 1);
    check_class(MPI_T_event_read(last_instance, 0, &at), MPI_T_ERR_INVALID_HANDLE);
    ok(MPI_T_event_callback_set_info(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL));
    ok(MPI_T_event_callback_get_info(registration, MPI_T_CB_REQUIRE_NONE, &info));
    ok(MPI_Info_free(&info));
    check_class(MPI_T_event_callback_get_info(registration, MPI_T_CB_REQUIRE_THREAD_SAFE, &info), MPI_T_ERR_INVALID);
    check_class(MPI_T_event_callback_get_info(registration, MPI_T_CB_REQUIRE_NONE, NULL), MPI_T_ERR_INVALID);
    capacity_is(registration, 4096);
    ok(MPI_Info_create(&info));
    ok(MPI_Info_set(info, "ferrum_waiting_events", "17"));
    ok(MPI_Info_set(info, "of_somebody_else", "1"));
    ok(MPI_T_event_handle_set_info(registration, info));
    capacity_is(registration, 17);
    ok(MPI_Info_set(info, "ferrum_waiting_events", "0"));
    check_class(MPI_T_event_handle_set_info(registration, info), MPI_T_ERR_INVALID);
    check_class(MPI_T_event_handle_set_info(registration, other), MPI_T_ERR_INVALID);
    capacity_is(registration, 17);
    ok(MPI_Info_free(&info));
    check_class(MPI_T_event_handle_get_info(registration, NULL), MPI_T_ERR_INVALID);
    ok(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, NULL));
    ok(MPI_T_cvar_write(cvar, &value));
    check_equal(calls, 1);
    ok(MPI_T_event_handle_free(registration, &frees, on_free));
    check_equal(frees, 1);
    bad_handle(registration);
    bad_handle((MPI_T_event_registration)0);
    bad_handle((MPI_T_event_registration)1);
    bad_handle((MPI_T_event_registration)~0ul);
    bad_handle((MPI_T_event_registration)cvar);
    check_equal(frees, 1);
    ok(MPI_T_cvar_handle_free(&cvar));
    ok(MPI_T_finalize());
    MPI_Init(&argc, &argv);
    identify();
    return finish();
}
