/* Variables and categories of the same name have the same properties in all processes. */
#include "tool/tool.h"

static unsigned long long mixed(unsigned long long sum, const void *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        sum = (sum ^ ((const unsigned char *)bytes)[i]) * 1099511628211u;
    return sum;
}

/* Adds a property up over all processes: the same everywhere, or wrong. */
static void same(unsigned long long value, const char *name)
{
    unsigned long long low = 0, high = 0;
    MPI_Allreduce(&value, &low, 1, MPI_UNSIGNED_LONG_LONG, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&value, &high, 1, MPI_UNSIGNED_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
    if (low != high)
        fprintf(stderr, "not the same everywhere: %s\n", name);
    check(low == high);
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
