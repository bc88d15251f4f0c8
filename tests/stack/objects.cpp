// A typed tool in C++ with objects of static storage, which its end uses: one of the file, and one of a function, made
// by the first call. Each prints when it is destroyed.
#include <ferrum_stack.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

struct Counts {
    explicit Counts(const char *name) : name(name) {}
    ~Counts()
    {
        std::fprintf(stderr, "objects: %s is destroyed\n", name);
        calls.clear();
        name = "a destroyed object";
    }
    const char *name;
    std::map<std::string, long> calls;
};

static Counts of_file("that of the file");

static Counts &of_function()
{
    static Counts counts("that of the function");
    return counts;
}

static void handler()
{
    std::fprintf(stderr, "objects: a handler of atexit with %ld functions\n", (long)of_function().calls.size());
}

static void enter(void *, ferrum_call *call)
{
    of_file.calls[call->function->name]++;
    if (of_function().calls.empty())
        std::atexit(handler);
    of_function().calls[call->function->name]++;
}

static void end(void *)
{
    long barriers = of_function().calls["MPI_Barrier"], sum = 0;
    for (const auto &each : of_file.calls)
        sum += each.second;
    std::fprintf(stderr, "objects: end with %s, %s: %ld calls, %ld of MPI_Barrier\n", of_file.name, of_function().name,
                 sum, barriers);
}

extern "C" const ferrum_interceptor ferrum_interceptor_v1 = {sizeof(ferrum_interceptor), nullptr, enter, nullptr, end};
