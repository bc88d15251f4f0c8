/* The verbosity level of a variable or an event matches its audience: each further audience gets more, no level has
 * all of a kind, and all variables of one name have one level. */
#include "tool.h"

enum { MOST = 512 };

/* All control variables, performance variables or events. */
struct list {
    const char *kind;
    int count, level[MOST];
    char name[MOST][128];
};

static struct list cvars = {.kind = "cvar"}, pvars = {.kind = "pvar"}, events = {.kind = "event"};

static void collect(void)
{
    int length;
    ok(MPI_T_cvar_get_num(&cvars.count));
    ok(MPI_T_pvar_get_num(&pvars.count));
    ok(MPI_T_event_get_num(&events.count));
    check(cvars.count <= MOST && pvars.count <= MOST && events.count <= MOST);
    for (int i = 0; i < cvars.count; i++) {
        length = (int)sizeof cvars.name[i];
        ok(MPI_T_cvar_get_info(i, cvars.name[i], &length, &cvars.level[i], NULL, NULL, NULL, NULL, NULL, NULL));
    }
    for (int i = 0; i < pvars.count; i++) {
        length = (int)sizeof pvars.name[i];
        ok(MPI_T_pvar_get_info(i, pvars.name[i], &length, &pvars.level[i], NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                               NULL, NULL));
    }
    for (int i = 0; i < events.count; i++) {
        length = (int)sizeof events.name[i];
        ok(MPI_T_event_get_info(i, events.name[i], &length, &events.level[i], NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                                NULL));
    }
}

static int up_to(const struct list *list, int level)
{
    int found = 0;
    for (int i = 0; i < list->count; i++)
        found += list->level[i] <= level;
    return found;
}

/* The first level is a short list, each level adds some, and details are at the level after. */
static void cuts(const struct list *list)
{
    int basic = up_to(list, MPI_T_VERBOSITY_USER_BASIC), user = up_to(list, MPI_T_VERBOSITY_USER_ALL);
    int tuner_basic = up_to(list, MPI_T_VERBOSITY_TUNER_BASIC), tuner = up_to(list, MPI_T_VERBOSITY_TUNER_ALL);
    check_equal(up_to(list, MPI_T_VERBOSITY_USER_BASIC - 1), 0);
    check_equal(up_to(list, MPI_T_VERBOSITY_MPIDEV_ALL), list->count);
    check(basic > 0 && basic * 2 < list->count);
    check(basic < user && user < tuner && user <= tuner_basic && tuner_basic < tuner && tuner <= list->count);
    for (int i = 0; i < list->count; i++)
        for (int j = 0; j < i; j++)
            check(strcmp(list->name[i], list->name[j]) != 0 || list->level[i] == list->level[j]);
}

static void is(const struct list *list, const char *name, int level)
{
    int found = 0;
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->name[i], name) == 0) {
            int before = wrong;
            check_equal(list->level[i], level);
            if (wrong > before)
                fprintf(stderr, "... for %s %s\n", list->kind, name);
            found++;
        }
    check(found > 0);
}

/* Names with this prefix are at a level from the first to the second. */
static void all_between(const struct list *list, const char *prefix, int first, int last)
{
    int found = 0;
    for (int i = 0; i < list->count; i++)
        if (strncmp(list->name[i], prefix, strlen(prefix)) == 0) {
            found++;
            if (list->level[i] < first || list->level[i] > last) {
                fprintf(stderr, "%s %s is at level %d\n", list->kind, list->name[i], list->level[i]);
                wrong++;
            }
        }
    check(found > 0);
}

int main(int argc, char **argv)
{
    begin(&argc, &argv);
    tool_begin();
    collect();
    cuts(&cvars);
    cuts(&pvars);
    cuts(&events);
    check(up_to(&pvars, MPI_T_VERBOSITY_TUNER_ALL) < pvars.count);

    /* Names that a program's author uses in the program. */
    is(&pvars, "MPI_T_UMQ_LENGTH", MPI_T_VERBOSITY_USER_BASIC);
    is(&pvars, "p2p_messages_sent", MPI_T_VERBOSITY_USER_BASIC);
    is(&pvars, "errors_raised", MPI_T_VERBOSITY_USER_BASIC);
    is(&pvars, "p2p_peer_bytes_sent", MPI_T_VERBOSITY_USER_DETAIL);
    is(&cvars, "coll_check", MPI_T_VERBOSITY_USER_BASIC);
    is(&cvars, "stats_file", MPI_T_VERBOSITY_USER_DETAIL);
    is(&events, "errors_error_raised", MPI_T_VERBOSITY_USER_BASIC);
    all_between(&pvars, "objects_", MPI_T_VERBOSITY_USER_DETAIL, MPI_T_VERBOSITY_USER_ALL);
    all_between(&pvars, "file_", MPI_T_VERBOSITY_USER_BASIC, MPI_T_VERBOSITY_USER_DETAIL);
    all_between(&cvars, "error_", MPI_T_VERBOSITY_USER_BASIC, MPI_T_VERBOSITY_USER_DETAIL);
    all_between(&events, "objects_", MPI_T_VERBOSITY_USER_DETAIL, MPI_T_VERBOSITY_USER_ALL);

    /* Settings that decide the speed of a job. */
    is(&cvars, "p2p_eager_limit", MPI_T_VERBOSITY_TUNER_BASIC);
    is(&cvars, "p2p_comm_eager_limit", MPI_T_VERBOSITY_TUNER_DETAIL);
    is(&cvars, "coll_bcast_shape", MPI_T_VERBOSITY_TUNER_DETAIL);
    is(&pvars, "p2p_rendezvous_sent", MPI_T_VERBOSITY_TUNER_BASIC);
    is(&pvars, "coll_bcast_algorithm", MPI_T_VERBOSITY_TUNER_DETAIL);
    all_between(&cvars, "p2p_wait_", MPI_T_VERBOSITY_TUNER_BASIC, MPI_T_VERBOSITY_TUNER_ALL);
    all_between(&events, "tool_", MPI_T_VERBOSITY_TUNER_BASIC, MPI_T_VERBOSITY_TUNER_ALL);

    /* Names of the library's inside. */
    is(&pvars, "p2p_transfer_slots_free", MPI_T_VERBOSITY_MPIDEV_BASIC);
    is(&pvars, "fabric_wait_poll_limit", MPI_T_VERBOSITY_MPIDEV_DETAIL);
    all_between(&pvars, "fabric_", MPI_T_VERBOSITY_TUNER_BASIC, MPI_T_VERBOSITY_MPIDEV_ALL);
    MPI_T_finalize();
    return finish();
}
