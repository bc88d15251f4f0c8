/* Whatever word is passed as a session or handle of the tool information interface, the call returns the code made for that. */
#include "check.h"
#include <stdint.h>

static uintptr_t words[12000];
static int word_count;

static void add(uintptr_t word)
{
    if (word_count < (int)(sizeof words / sizeof *words))
        words[word_count++] = word;
}

int main(int argc, char **argv)
{
    MPI_T_pvar_session session, freed_session;
    MPI_T_pvar_handle handle, freed_handle;
    MPI_T_cvar_handle cvar, freed_cvar;
    int provided, count, index;
    unsigned long long value[8] = {0};
    uint64_t state = 88172645463325252u;
    MPI_Comm comm = MPI_COMM_SELF;
    begin(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    ok(MPI_T_pvar_session_create(&session));
    ok(MPI_T_pvar_session_create(&freed_session));
    ok(MPI_T_pvar_get_index("MPI_T_UMQ_LENGTH", MPI_T_PVAR_CLASS_LEVEL, &index));
    ok(MPI_T_pvar_handle_alloc(session, index, &comm, &handle, &count));
    ok(MPI_T_pvar_handle_alloc(session, index, &comm, &freed_handle, &count));
    ok(MPI_T_cvar_handle_alloc(0, NULL, &cvar, &count));
    ok(MPI_T_cvar_handle_alloc(0, NULL, &freed_cvar, &count));
    add((uintptr_t)freed_session), add((uintptr_t)freed_handle), add((uintptr_t)freed_cvar);
    ok(MPI_T_pvar_session_free(&freed_session));
    ok(MPI_T_pvar_handle_free(session, &freed_handle));
    ok(MPI_T_cvar_handle_free(&freed_cvar));
    for (uintptr_t word = 0; word < 4097; word++)
        add(word);
    uintptr_t live[] = {(uintptr_t)session, (uintptr_t)handle, (uintptr_t)cvar};
    for (int i = 0; i < 3; i++)
        for (int bit = 0; bit < 64; bit++)
            add(live[i] ^ ((uintptr_t)1 << bit));
    for (int i = 0; i < 3000; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        add((uintptr_t)state >> (i % 5 * 12));
    }
    for (int i = 0; i < word_count; i++) {
        MPI_T_pvar_session s = (MPI_T_pvar_session)words[i];
        MPI_T_pvar_handle h = (MPI_T_pvar_handle)words[i], made;
        MPI_T_cvar_handle c = (MPI_T_cvar_handle)words[i];
        MPI_T_enum e = (MPI_T_enum)words[i];
        if (s != session) {
            check_equal(MPI_T_pvar_read(s, handle, value), MPI_T_ERR_INVALID_SESSION);
            check_equal(MPI_T_pvar_start(s, handle), MPI_T_ERR_INVALID_SESSION);
            check_equal(MPI_T_pvar_stop(s, MPI_T_PVAR_ALL_HANDLES), MPI_T_ERR_INVALID_SESSION);
            check_equal(MPI_T_pvar_handle_alloc(s, index, &comm, &made, &count), MPI_T_ERR_INVALID_SESSION);
            check_equal(MPI_T_pvar_session_free(&s), MPI_T_ERR_INVALID_SESSION);
        }
        if (h != handle && h != MPI_T_PVAR_ALL_HANDLES) {
            check_equal(MPI_T_pvar_read(session, h, value), MPI_T_ERR_INVALID_HANDLE);
            check_equal(MPI_T_pvar_write(session, h, value), MPI_T_ERR_INVALID_HANDLE);
            check_equal(MPI_T_pvar_start(session, h), MPI_T_ERR_INVALID_HANDLE);
            check_equal(MPI_T_pvar_stop(session, h), MPI_T_ERR_INVALID_HANDLE);
            check_equal(MPI_T_pvar_reset(session, h), MPI_T_ERR_INVALID_HANDLE);
            check_equal(MPI_T_pvar_readreset(session, h, value), MPI_T_ERR_INVALID_HANDLE);
            check_equal(MPI_T_pvar_handle_free(session, &h), MPI_T_ERR_INVALID_HANDLE);
        }
        if (c != cvar) {
            check_equal(MPI_T_cvar_read(c, value), MPI_T_ERR_INVALID_HANDLE);
            check_equal(MPI_T_cvar_write(c, value), MPI_T_ERR_INVALID_HANDLE);
            check_equal(MPI_T_cvar_handle_free(&c), MPI_T_ERR_INVALID_HANDLE);
        }
        /* A word may happen to be an enumeration: then its name comes back, and no crash either. */
        int number, length = 0, code = MPI_T_enum_get_info(e, &number, NULL, &length);
        check(code == MPI_SUCCESS || code == MPI_T_ERR_INVALID_HANDLE);
    }
    ok(MPI_T_pvar_read(session, handle, value));
    ok(MPI_T_cvar_handle_free(&cvar));
    ok(MPI_T_pvar_session_free(&session));
    MPI_T_finalize();
    return finish();
}
