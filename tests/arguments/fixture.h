/* Functions for the generated tests of wrong arguments: valid and freed objects of every kind, handlers that record
 * their object, and the check of one case. A case writes a line before its call and one after it, so that the suite
 * finds the case that ended the program. HAVE_MPI_X is defined for every function X of the library. */
#ifndef FERRUM_ARGUMENTS_FIXTURE_H
#define FERRUM_ARGUMENTS_FIXTURE_H

#include "have.h"
#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Valid objects, and handles of freed objects. */
static MPI_Comm live_comm, freed_comm, live_intercomm, live_cart, live_graph, live_dist_graph;
static MPI_Group live_group, freed_group;
static MPI_Datatype live_type, freed_type;
static MPI_Op live_op, freed_op;
static MPI_Errhandler live_errhandler, freed_errhandler, live_win_errhandler, live_file_errhandler,
    live_session_errhandler;
static MPI_Info live_info, freed_info;
static MPI_Request live_request, freed_request, live_psend, live_precv;
static MPI_Message live_message, freed_message;
static MPI_Win live_win, freed_win;
static MPI_File live_file, freed_file;
static MPI_Session live_session, freed_session;
static MPI_T_pvar_session live_pvar_session, freed_pvar_session;
static MPI_T_pvar_handle live_pvar, freed_pvar;
static MPI_T_cvar_handle live_cvar, freed_cvar;
static MPI_T_enum live_enum;
static MPI_T_event_registration live_registration, freed_registration;
static int live_comm_keyval, live_type_keyval, live_win_keyval, freed_keyval;
static int added_class, added_code, own_rank, ranks, global_pvar, global_pvar_class;
static int category_of_cvars, category_of_pvars, category_of_events;
static char global_pvar_name[256], cvar_name[256], category_name[256], file_name[512];
static void *allocated;

/* Words that are no handle, and handles of another kind. */
#define forged_zero NULL
#define forged_small ((void *)(uintptr_t)0x7)
#define forged_large ((void *)(uintptr_t)0x7fedcba987654321)
#define foreign_to_comm live_type
#define foreign_to_group live_comm
#define foreign_to_win live_comm
#define foreign_to_file live_comm
#define foreign_to_session live_comm
#define foreign_to_type live_comm
#define foreign_to_op live_comm
#define foreign_to_errhandler live_comm
#define foreign_to_info live_comm
#define foreign_to_request live_comm
#define foreign_to_message live_request
#define foreign_to_pvar live_cvar
#define foreign_to_cvar live_pvar
#define foreign_to_pvar_session live_pvar

static unsigned char memory[4096];
static char long_key[MPI_MAX_INFO_KEY + 2], long_value[MPI_MAX_INFO_VAL + 2];

static void any_function(void)
{
}

/* Room for the results of a call, one place an argument, and its contents before the call. */
enum { PLACES = 16, PLACE = 8192 };
static unsigned char places[PLACES][PLACE], before[PLACES][PLACE];
static void *room(int place)
{
    return places[place];
}

/* The object whose handler is called. */
enum object { NO_OBJECT, COMM, WIN, FILE_HANDLE, SESSION };
static int calls, called_code;
static enum object called;
static uintptr_t called_word;

static void record(enum object object, uintptr_t word, int code)
{
    calls++;
    called = object;
    called_word = word;
    called_code = code;
}

static void on_comm(MPI_Comm *comm, int *code, ...)
{
    record(COMM, (uintptr_t)*comm, *code);
}

static void on_win(MPI_Win *win, int *code, ...)
{
    record(WIN, (uintptr_t)*win, *code);
}

static void on_file(MPI_File *file, int *code, ...)
{
    record(FILE_HANDLE, (uintptr_t)*file, *code);
}

static void on_session(MPI_Session *session, int *code, ...)
{
    record(SESSION, (uintptr_t)*session, *code);
}

/* The current case. */
static int number, first_case, report = -1, failures;
/* Whether the calls are made while MPI is not running, and the least number of ranks that the case needs. */
static int outside, required_ranks;
static char title[256];
static int expected, tool_call;
static enum object object;
static uintptr_t object_word;

static void say(const char *word, const char *text)
{
    char line[1024];
    int length = snprintf(line, sizeof line, "%s %d %s%s%s\n", word, number, title, *text ? ": " : "", text);
    if (length > 0 && write(report, line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1) < 0)
        exit(3);
}

static void wrong(const char *format, long long is, long long should)
{
    char text[512];
    snprintf(text, sizeof text, format, is, should);
    say("wrong", text);
    failures++;
}

/* Begins a case; 0 when an earlier process ran it, or it needs more ranks. */
static int begin_case(void)
{
    if (++number < first_case)
        return 0;
    if (!outside && ranks < required_ranks) {
        say("skipped", "");
        return 0;
    }
    say("begin", "");
    memcpy(before, places, sizeof places);
    calls = 0;
    return 1;
}

static void expect(const char *function, const char *parameter, const char *value, const char *name, int class,
                   int tool, enum object whose, uintptr_t word)
{
    snprintf(title, sizeof title, "%s(%s = %s) gives %s", function, parameter, value, name);
    expected = class, tool_call = tool, object = whose, object_word = word;
}

static int class_of(int code)
{
    int class = -1;
    PMPI_Error_class(code, &class);
    return class;
}

/* A message around the ring of ranks, to check the communicator, the datatype and the engine. */
static void round_trip(void)
{
    int out = number, in = -1, right = (own_rank + 1) % ranks, left = (own_rank + ranks - 1) % ranks;
    int code = MPI_Sendrecv(&out, 1, MPI_INT, right, 77, &in, 1, MPI_INT, left, 77, live_comm, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS || in != number)
        wrong("a round trip afterwards gives code %lld and %lld", code, in);
}

/* The number of the case in which all arguments are right, but MPI is not running. */
enum { OUTSIDE = -1 };
static const char *when = "before MPI_Init";

static void expect_outside(const char *function)
{
    snprintf(title, sizeof title, "%s %s gives MPI_ERR_OTHER", function, when);
    expected = MPI_ERR_OTHER, tool_call = 0, object = NO_OBJECT, object_word = 0;
}

/* The text of the error names the call and what has to be done, or was done, first. */
static void says_what_is_missing(int code)
{
    char text[MPI_MAX_ERROR_STRING] = "", name[64];
    int length = 0;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(title, " "), title);
    PMPI_Error_string(code, text, &length);
    if (strstr(text, name) == NULL || (strstr(text, "MPI_Init") == NULL && strstr(text, "MPI_Finalize") == NULL))
        wrong("its text, of %lld characters, does not say what is missing", length, 0);
}

static void end_case(int code)
{
    int so_far = failures, class = tool_call ? code : class_of(code);
    if (class != expected)
        wrong("class %lld instead of %lld", class, expected);
    int should_call = expected != MPI_SUCCESS && !tool_call && !outside;
    if (calls != should_call)
        wrong("%lld calls of error handlers instead of %lld", calls, should_call);
    if (calls && should_call && (called != object || called_word != object_word))
        wrong("the handler of object kind %lld instead of %lld was called, or of another one", called, object);
    if (calls && should_call && called_code != code)
        wrong("the handler was given code %lld, the caller %lld", called_code, code);
    if (expected != MPI_SUCCESS)
        for (int place = 0; place < PLACES; place++)
            if (memcmp(before[place], places[place], PLACE) != 0)
                wrong("argument %lld was changed although the call failed", place + 1, 0);
    if (!outside)
        round_trip();
    else
        says_what_is_missing(code);
    if (failures == so_far)
        say("right", "");
}

/* Fills the places again, so that no case finds the results of the previous one. */
static void fresh_places(void)
{
    memset(places, 0xa5, sizeof places);
    required_ranks = 1;
}

static void make_objects(void)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_create_errhandler(on_comm, &live_errhandler);
    MPI_Comm_create_errhandler(on_comm, &freed_errhandler);
    MPI_Errhandler copy = freed_errhandler;
    MPI_Errhandler_free(&copy);
    MPI_Comm_dup(MPI_COMM_WORLD, &live_comm);
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    freed_comm = comm;
    MPI_Comm_free(&comm);
    MPI_Comm_set_errhandler(live_comm, live_errhandler);
    live_intercomm = MPI_COMM_NULL;
#ifdef HAVE_MPI_Intercomm_create
    if (ranks > 1) {
        MPI_Comm_split(live_comm, own_rank > 0, 0, &comm);
        MPI_Intercomm_create(comm, 0, live_comm, own_rank == 0, 1, &live_intercomm);
        MPI_Comm_free(&comm);
        MPI_Comm_set_errhandler(live_intercomm, live_errhandler);
    }
#endif
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, live_errhandler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, live_errhandler);
    MPI_Type_dup(MPI_INT, &live_type);
    MPI_Datatype type;
    MPI_Type_dup(MPI_INT, &type);
    freed_type = type;
    MPI_Type_free(&type);
    MPI_Op_create((MPI_User_function *)any_function, 1, &live_op);
    MPI_Op op;
    MPI_Op_create((MPI_User_function *)any_function, 1, &op);
    freed_op = op;
    MPI_Op_free(&op);
    MPI_Comm_group(live_comm, &live_group);
    MPI_Group group;
    MPI_Comm_group(live_comm, &group);
    freed_group = group;
    MPI_Group_free(&group);
    MPI_Info_create(&live_info);
    MPI_Info_set(live_info, "key", "value");
    MPI_Info info;
    MPI_Info_create(&info);
    freed_info = info;
    MPI_Info_free(&info);
    memset(long_key, 'k', sizeof long_key - 1);
    memset(long_value, 'v', sizeof long_value - 1);
    MPI_Add_error_class(&added_class);
    MPI_Add_error_code(added_class, &added_code);
}

static void make_requests(void)
{
    static int never, sent, received;
    MPI_Request request, sending;
    MPI_Irecv(&never, 1, MPI_INT, 0, 4711, MPI_COMM_SELF, &live_request);
    MPI_Psend_init(memory, 4, 1, MPI_INT, 0, 4712, MPI_COMM_SELF, MPI_INFO_NULL, &live_psend);
    MPI_Precv_init(memory + 64, 4, 1, MPI_INT, 0, 4712, MPI_COMM_SELF, MPI_INFO_NULL, &live_precv);
    MPI_Start(&live_psend);
    MPI_Start(&live_precv);
    MPI_Irecv(&never, 1, MPI_INT, 0, 4712, MPI_COMM_SELF, &request);
    freed_request = request;
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Message message;
    MPI_Isend(&sent, 1, MPI_INT, 0, 4713, MPI_COMM_SELF, &sending);
    MPI_Mprobe(0, 4713, MPI_COMM_SELF, &message, MPI_STATUS_IGNORE);
    freed_message = message;
    MPI_Mrecv(&received, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&sending, MPI_STATUS_IGNORE);
    MPI_Isend(&sent, 1, MPI_INT, 0, 4714, MPI_COMM_SELF, &sending);
    MPI_Mprobe(0, 4714, MPI_COMM_SELF, &live_message, MPI_STATUS_IGNORE);
    MPI_Wait(&sending, MPI_STATUS_IGNORE);
    MPI_Alloc_mem(64, MPI_INFO_NULL, &allocated);
}

static void make_topologies(void)
{
#ifdef HAVE_MPI_Cart_create
    MPI_Cart_create(live_comm, 2, (const int[]){ranks, 1}, (const int[]){0, 0}, 0, &live_cart);
#endif
#ifdef HAVE_MPI_Graph_create
    int all = 0, index[64], edges[128];
    for (int rank = 0; rank < ranks && rank < 64; rank++) {
        edges[all++] = rank;
        edges[all++] = 0;
        index[rank] = all;
    }
    MPI_Graph_create(live_comm, ranks, index, edges, 0, &live_graph);
#endif
#ifdef HAVE_MPI_Dist_graph_create_adjacent
    int self[] = {own_rank, own_rank}, weights[] = {3, 4};
    MPI_Dist_graph_create_adjacent(live_comm, 2, self, weights, 2, self, weights, MPI_INFO_NULL, 0, &live_dist_graph);
#endif
}

static void make_keyvals(void)
{
    int keyval;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &live_comm_keyval, NULL);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &live_type_keyval, NULL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    freed_keyval = keyval;
    MPI_Comm_free_keyval(&keyval);
    MPI_Comm_set_attr(live_comm, live_comm_keyval, memory);
    MPI_Type_set_attr(live_type, live_type_keyval, memory);
#ifdef HAVE_MPI_Win_create_keyval
    MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &live_win_keyval, NULL);
#else
    live_win_keyval = freed_keyval;
#endif
}

static void make_windows_files_sessions(void)
{
#ifdef HAVE_MPI_Win_create
    static unsigned char exposed[4096];
    MPI_Win win;
    MPI_Win_create(exposed, sizeof exposed, 1, MPI_INFO_NULL, live_comm, &live_win);
    MPI_Win_create(exposed, sizeof exposed, 1, MPI_INFO_NULL, live_comm, &win);
    freed_win = win;
    MPI_Win_free(&win);
#ifdef HAVE_MPI_Win_fence
    MPI_Win_fence(0, live_win);
#endif
#ifdef HAVE_MPI_Win_set_attr
    MPI_Win_set_attr(live_win, live_win_keyval, memory);
#endif
#endif
#ifdef HAVE_MPI_Win_create_errhandler
    MPI_Win_create_errhandler(on_win, &live_win_errhandler);
#endif
#ifdef HAVE_MPI_Win_set_errhandler
    MPI_Win_set_errhandler(live_win, live_win_errhandler);
#endif
#ifdef HAVE_MPI_File_open
    snprintf(file_name, sizeof file_name, "file-of-%d-ranks", ranks);
    MPI_File file;
    MPI_File_open(live_comm, file_name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                  &live_file);
    MPI_File_open(live_comm, file_name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    freed_file = file;
    MPI_File_close(&file);
#endif
#ifdef HAVE_MPI_File_create_errhandler
    MPI_File_create_errhandler(on_file, &live_file_errhandler);
#endif
#ifdef HAVE_MPI_File_set_errhandler
    MPI_File_set_errhandler(live_file, live_file_errhandler);
    MPI_File_set_errhandler(MPI_FILE_NULL, live_file_errhandler);
#endif
#ifdef HAVE_MPI_Session_create_errhandler
    MPI_Session_create_errhandler(on_session, &live_session_errhandler);
#endif
#ifdef HAVE_MPI_Session_init
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, live_session_errhandler, &live_session);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    freed_session = session;
    MPI_Session_finalize(&session);
#endif
    (void)on_win, (void)on_file, (void)on_session;
}

static void on_event(MPI_T_event_instance event, MPI_T_event_registration registration, MPI_T_cb_safety safety,
                     void *data)
{
}

/* A variable of no object, a handle of it, and an enumeration. */
static void make_tool_objects(void)
{
    int provided, count, pvars, cvars, length;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_session_create(&live_pvar_session);
    MPI_T_pvar_session_create(&freed_pvar_session);
    MPI_T_pvar_session freed = freed_pvar_session;
    MPI_T_pvar_session_free(&freed);
    MPI_T_pvar_get_num(&pvars);
    MPI_T_cvar_get_num(&cvars);
    global_pvar = -1;
    for (int i = 0; i < pvars; i++) {
        int bind, class, continuous, readonly;
        length = sizeof global_pvar_name;
        MPI_T_enum found = MPI_T_ENUM_NULL;
        char name[256];
        MPI_T_pvar_get_info(i, name, &length, NULL, &class, NULL, &found, NULL, NULL, &bind, &readonly, &continuous,
                            NULL);
        if (found != MPI_T_ENUM_NULL)
            live_enum = found;
        if (global_pvar < 0 && bind == MPI_T_BIND_NO_OBJECT) {
            global_pvar = i, global_pvar_class = class;
            strcpy(global_pvar_name, name);
        }
    }
    for (int i = 0; i < cvars && live_enum == MPI_T_ENUM_NULL; i++)
        MPI_T_cvar_get_info(i, NULL, NULL, NULL, NULL, &live_enum, NULL, NULL, NULL, NULL);
    length = sizeof cvar_name;
    MPI_T_cvar_get_info(0, cvar_name, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    int categories;
    MPI_T_category_get_num(&categories);
    for (int i = 0; i < categories; i++) {
        int here_cvars, here_pvars, here_events;
        MPI_T_category_get_info(i, NULL, NULL, NULL, NULL, &here_cvars, &here_pvars, NULL);
        MPI_T_category_get_num_events(i, &here_events);
        category_of_cvars = here_cvars ? i : category_of_cvars;
        category_of_pvars = here_pvars ? i : category_of_pvars;
        category_of_events = here_events ? i : category_of_events;
    }
    length = sizeof category_name;
    MPI_T_category_get_info(0, category_name, &length, NULL, NULL, NULL, NULL, NULL);
    MPI_T_pvar_handle_alloc(live_pvar_session, global_pvar, NULL, &live_pvar, &count);
    MPI_T_pvar_handle_alloc(live_pvar_session, global_pvar, NULL, &freed_pvar, &count);
    MPI_T_pvar_handle handle = freed_pvar;
    MPI_T_pvar_handle_free(live_pvar_session, &handle);
    MPI_T_cvar_handle_alloc(0, NULL, &live_cvar, &count);
    MPI_T_cvar_handle_alloc(0, NULL, &freed_cvar, &count);
    MPI_T_cvar_handle cvar = freed_cvar;
    MPI_T_cvar_handle_free(&cvar);
#ifdef HAVE_MPI_T_event_handle_alloc
    MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, &live_registration);
    MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, &freed_registration);
    MPI_T_event_handle_free(freed_registration, NULL, NULL);
    MPI_T_event_register_callback(live_registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, on_event);
#endif
}

/* Arguments of the program: the file for the lines of each rank (its rank is added), the first case to run, and a
 * third one if the calls are to be made while MPI is not running. */
static void open_report(int argc, char **argv)
{
    char path[512];
    if (argc < 3)
        return;
    snprintf(path, sizeof path, "%s.%d", argv[1], own_rank);
    FILE *file = fopen(path, "w");
    if (file == NULL)
        exit(3);
    report = fileno(file);
    first_case = atoi(argv[2]);
}

static void start_outside(int argc, char **argv)
{
    outside = 1;
    open_report(argc, argv);
}

static void open_and_end_session(void)
{
#ifdef HAVE_MPI_Session_init
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Session_finalize(&session);
#endif
}

/* Proceeds to the next state in which MPI is not running; the states are those of the list in the generator. */
static void pass_to(int moment, int *argc, char ***argv)
{
    static const char *const names[] = {"before MPI_Init", "after a session", "after MPI_Finalize",
                                        "after the last session"};
    if (moment == 2) {
        MPI_Init(argc, argv);
        MPI_Finalize();
    } else if (moment > 0) {
        open_and_end_session();
    }
    when = names[moment];
}

static void end_outside(void)
{
    snprintf(title, sizeof title, "all");
    say("end", "");
}

static void start(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    make_objects();
    open_report(*argc, *argv);
    make_requests();
    make_topologies();
    make_keyvals();
    make_windows_files_sessions();
    make_tool_objects();
}

static void end(void)
{
    snprintf(title, sizeof title, "all");
    say("end", "");
    MPI_Pready_range(0, 3, live_psend);
    MPI_Wait(&live_psend, MPI_STATUS_IGNORE);
    MPI_Wait(&live_precv, MPI_STATUS_IGNORE);
    MPI_Request_free(&live_psend);
    MPI_Request_free(&live_precv);
    MPI_Cancel(&live_request);
    MPI_Wait(&live_request, MPI_STATUS_IGNORE);
    int received;
    MPI_Mrecv(&received, 1, MPI_INT, &live_message, MPI_STATUS_IGNORE);
    MPI_Barrier(live_comm);
#ifdef HAVE_MPI_Win_create
#ifdef HAVE_MPI_Win_fence
    MPI_Win_fence(0, live_win);
#endif
    MPI_Win_free(&live_win);
#endif
#ifdef HAVE_MPI_File_open
    MPI_File_close(&live_file);
#endif
#ifdef HAVE_MPI_Session_init
    MPI_Session_finalize(&live_session);
#endif
    MPI_Finalize();
}

#endif
