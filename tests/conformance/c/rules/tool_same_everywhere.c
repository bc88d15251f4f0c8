/* Variables, types of events and categories of the same index have the same name and properties in all processes. */
#include "tool/tool.h"

static unsigned long long mixed(unsigned long long sum, const void *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        sum = (sum ^ ((const unsigned char *)bytes)[i]) * 1099511628211u;
    return sum;
}

/* Checks that a property is the same in all processes, by its sum. */
static void same(unsigned long long value, const char *name)
{
    unsigned long long low = 0, high = 0;
    MPI_Allreduce(&value, &low, 1, MPI_UNSIGNED_LONG_LONG, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&value, &high, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
    if (low != high)
        fprintf(stderr, "not the same everywhere: %s\n", name);
    check(low == high);
}

static void cvars(void)
{
    int number = 0;
    ok(MPI_T_cvar_get_num(&number));
    same((unsigned long long)number, "the number of control variables");
    for (int i = 0; i < number; i++) {
        char name[256], text[1024];
        int name_length = sizeof name, text_length = sizeof text, properties[3];
        MPI_Datatype type;
        MPI_T_enum items;
        ok(MPI_T_cvar_get_info(i, name, &name_length, &properties[0], &type, &items, text, &text_length, &properties[1],
                               &properties[2]));
        unsigned long long sum = mixed(mixed(1469598103934665603u, name, strlen(name)), text, strlen(text));
        same(mixed(mixed(sum, properties, sizeof properties), &type, sizeof type), name);
    }
}

static void events(void)
{
    int number = 0;
    ok(MPI_T_event_get_num(&number));
    same((unsigned long long)number, "the number of types of events");
    for (int i = 0; i < number; i++) {
        char name[256], text[1024];
        int name_length = sizeof name, text_length = sizeof text, properties[3] = {0, 16, 0};
        MPI_Datatype types[16] = {0};
        MPI_Aint displacements[16] = {0};
        ok(MPI_T_event_get_info(i, name, &name_length, &properties[0], types, displacements, &properties[1], NULL, NULL,
                                text, &text_length, &properties[2]));
        unsigned long long sum = mixed(mixed(1469598103934665603u, name, strlen(name)), text, strlen(text));
        sum = mixed(mixed(sum, properties, sizeof properties), types, sizeof types);
        same(mixed(sum, displacements, sizeof displacements), name);
    }
}

int main(int argc, char **argv)
{
    int pvars = 0, categories = 0;
    begin(&argc, &argv);
    tool_begin();
    ok(MPI_T_pvar_get_num(&pvars));
    same((unsigned long long)pvars, "the number of variables");
    for (int i = 0; i < pvars; i++) {
        struct pvar_info info = pvar_info(i);
        int properties[] = {info.verbosity, info.class, info.bind, info.readonly, info.continuous, info.atomic};
        unsigned long long sum = mixed(1469598103934665603u, info.name, strlen(info.name));
        sum = mixed(sum, info.description, strlen(info.description));
        sum = mixed(sum, properties, sizeof properties);
        same(mixed(sum, &info.type, sizeof info.type), info.name);
    }
    cvars();
    events();
    ok(MPI_T_category_get_num(&categories));
    same((unsigned long long)categories, "the number of categories");
    for (int i = 0; i < categories; i++) {
        char name[256], text[1024];
        int name_length = sizeof name, text_length = sizeof text;
        ok(MPI_T_category_get_info(i, name, &name_length, text, &text_length, NULL, NULL, NULL));
        same(mixed(mixed(1469598103934665603u, name, strlen(name)), text, strlen(text)), name);
    }
    MPI_T_finalize();
    return finish();
}
