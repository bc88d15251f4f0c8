/* A part of mpicxx.h: functions of the program that the library calls, each behind a function of C that no exception
 * leaves. */
namespace MPI {

typedef void Datarep_extent_function(const Datatype &datatype, Aint &file_extent, void *extra_state);
typedef void Datarep_conversion_function(void *userbuf, Datatype &datatype, int count, void *filebuf, Offset position,
                                         void *extra_state);

namespace detail {

/* Runs the call of a program's function; an exception is kept for the function of this namespace under way. */
#define FERRUM_CXX_GUARDED(call_of_program)                                                                            \
    do {                                                                                                               \
        try {                                                                                                          \
            call_of_program;                                                                                           \
        } catch (const Exception &thrown) {                                                                            \
            Call::keep(thrown);                                                                                        \
        } catch (...) {                                                                                                \
            std::terminate();                                                                                          \
        }                                                                                                              \
    } while (0)

/* Calls `use` with an object of the class that fits the communicator. */
template <class Use> void with_comm(MPI_Comm comm, Use &use)
{
    int inter = 0, topology = MPI_UNDEFINED;
    Comm_Null none;
    Intercomm remote(comm);
    Cartcomm cart(comm);
    Graphcomm graph(comm);
    Distgraphcomm distributed(comm);
    Intracomm plain(comm);
    Comm *object = &plain;
    if (comm == MPI_COMM_NULL)
        object = &none;
    else if (PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS && inter)
        object = &remote;
    else if (PMPI_Topo_test(comm, &topology) == MPI_SUCCESS && topology == MPI_CART)
        object = &cart;
    else if (topology == MPI_GRAPH)
        object = &graph;
    else if (topology == MPI_DIST_GRAPH)
        object = &distributed;
    FERRUM_CXX_GUARDED(use.call(*object));
}

/* The functions of error handlers, by their handles; the newest is first, as a handle may be used again. */
template <class Function> class Handlers {
public:
    static void add(MPI_Errhandler handler, Function *function)
    {
        Handlers *node = new Handlers(handler, function);
        node->next_ = __atomic_load_n(&first(), __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(&first(), &node->next_, node, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            ;
    }
    static Function *find(MPI_Errhandler handler)
    {
        for (Handlers *node = __atomic_load_n(&first(), __ATOMIC_ACQUIRE); node; node = node->next_)
            if (node->handler_ == handler)
                return node->function_;
        return 0;
    }

private:
    Handlers(MPI_Errhandler handler, Function *function) : handler_(handler), function_(function), next_(0) {}
    static Handlers *&first()
    {
        static Handlers *newest = 0;
        return newest;
    }
    MPI_Errhandler handler_;
    Function *function_;
    Handlers *next_;
};

struct Comm_error {
    void call(Comm &comm) { function(comm, code); }
    Comm::Errhandler_function *function;
    int *code;
};

inline void handle_comm(MPI_Comm *comm, int *code, ...)
{
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    if (PMPI_Comm_get_errhandler(*comm, &handler) != MPI_SUCCESS)
        return;
    Comm_error error = {Handlers<Comm::Errhandler_function>::find(handler), code};
    PMPI_Errhandler_free(&handler);
    if (error.function)
        with_comm(*comm, error);
}

inline void handle_win(MPI_Win *win, int *code, ...)
{
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    if (PMPI_Win_get_errhandler(*win, &handler) != MPI_SUCCESS)
        return;
    Win::Errhandler_function *function = Handlers<Win::Errhandler_function>::find(handler);
    PMPI_Errhandler_free(&handler);
    Win object(*win);
    if (function)
        FERRUM_CXX_GUARDED(function(object, code));
}

inline void handle_file(MPI_File *file, int *code, ...)
{
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    if (PMPI_File_get_errhandler(*file, &handler) != MPI_SUCCESS)
        return;
    File::Errhandler_function *function = Handlers<File::Errhandler_function>::find(handler);
    PMPI_Errhandler_free(&handler);
    File object(*file);
    if (function)
        FERRUM_CXX_GUARDED(function(object, code));
}

/* The functions of a keyval. They are needed until the last attribute is deleted, which no one reports. */
template <class Copy, class C_copy, class Delete, class C_delete> struct Keyval {
    Keyval(Either<Copy, C_copy> copies, Either<Delete, C_delete> deletes, void *state)
        : copy(copies), remove(deletes), extra_state(state)
    {
    }
    Either<Copy, C_copy> copy;
    Either<Delete, C_delete> remove;
    void *extra_state;
};

typedef Keyval<Comm::Copy_attr_function, MPI_Comm_copy_attr_function, Comm::Delete_attr_function,
               MPI_Comm_delete_attr_function>
    Comm_keyval;
typedef Keyval<Datatype::Copy_attr_function, MPI_Type_copy_attr_function, Datatype::Delete_attr_function,
               MPI_Type_delete_attr_function>
    Type_keyval;
typedef Keyval<Win::Copy_attr_function, MPI_Win_copy_attr_function, Win::Delete_attr_function,
               MPI_Win_delete_attr_function>
    Win_keyval;

/* What the predefined copy functions do, which are no functions that can be called. */
template <class C_copy> bool predefined_copy(C_copy *copy, C_copy *duplicate, void *in, void *out, int *flag)
{
    if (copy && copy != duplicate)
        return false;
    *flag = copy == duplicate;
    if (*flag)
        *static_cast<void **>(out) = in;
    return true;
}

struct Comm_copy {
    void call(const Comm &comm)
    {
        bool copied = false;
        code = keyval->copy.cxx(comm, number, keyval->extra_state, in, out, copied);
        *flag = copied;
    }
    Comm_keyval *keyval;
    int number;
    void *in, *out;
    int *flag, code;
};

struct Comm_delete {
    void call(Comm &comm) { code = keyval->remove.cxx(comm, number, value, keyval->extra_state); }
    Comm_keyval *keyval;
    int number;
    void *value;
    int code;
};

inline int copy_comm(MPI_Comm comm, int number, void *state, void *in, void *out, int *flag)
{
    Comm_keyval *keyval = static_cast<Comm_keyval *>(state);
    *flag = 0;
    if (!keyval->copy.cxx) {
        if (predefined_copy(keyval->copy.c, MPI_COMM_DUP_FN, in, out, flag))
            return MPI_SUCCESS;
        return keyval->copy.c(comm, number, keyval->extra_state, in, out, flag);
    }
    Comm_copy use = {keyval, number, in, out, flag, MPI_SUCCESS};
    with_comm(comm, use);
    return use.code;
}

inline int delete_comm(MPI_Comm comm, int number, void *value, void *state)
{
    Comm_keyval *keyval = static_cast<Comm_keyval *>(state);
    if (!keyval->remove.cxx)
        return keyval->remove.c ? keyval->remove.c(comm, number, value, keyval->extra_state) : MPI_SUCCESS;
    Comm_delete use = {keyval, number, value, MPI_SUCCESS};
    with_comm(comm, use);
    return use.code;
}

inline int copy_type(MPI_Datatype type, int number, void *state, void *in, void *out, int *flag)
{
    Type_keyval *keyval = static_cast<Type_keyval *>(state);
    int code = MPI_SUCCESS;
    bool copied = false;
    *flag = 0;
    if (!keyval->copy.cxx) {
        if (predefined_copy(keyval->copy.c, MPI_TYPE_DUP_FN, in, out, flag))
            return MPI_SUCCESS;
        return keyval->copy.c(type, number, keyval->extra_state, in, out, flag);
    }
    FERRUM_CXX_GUARDED(code = keyval->copy.cxx(Datatype(type), number, keyval->extra_state, in, out, copied));
    *flag = copied;
    return code;
}

inline int delete_type(MPI_Datatype type, int number, void *value, void *state)
{
    Type_keyval *keyval = static_cast<Type_keyval *>(state);
    Datatype object(type);
    int code = MPI_SUCCESS;
    if (!keyval->remove.cxx)
        return keyval->remove.c ? keyval->remove.c(type, number, value, keyval->extra_state) : MPI_SUCCESS;
    FERRUM_CXX_GUARDED(code = keyval->remove.cxx(object, number, value, keyval->extra_state));
    return code;
}

inline int delete_win(MPI_Win win, int number, void *value, void *state)
{
    Win_keyval *keyval = static_cast<Win_keyval *>(state);
    Win object(win);
    int code = MPI_SUCCESS;
    if (!keyval->remove.cxx)
        return keyval->remove.c ? keyval->remove.c(win, number, value, keyval->extra_state) : MPI_SUCCESS;
    FERRUM_CXX_GUARDED(code = keyval->remove.cxx(object, number, value, keyval->extra_state));
    return code;
}

/* The functions of a generalized request. */
struct Generalized {
    Grequest::Query_function *query;
    Grequest::Free_function *release;
    Grequest::Cancel_function *cancel;
    void *extra_state;
};

inline int query_request(void *state, MPI_Status *status)
{
    Generalized *request = static_cast<Generalized *>(state);
    Status object(*status);
    int code = MPI_SUCCESS;
    FERRUM_CXX_GUARDED(code = request->query(request->extra_state, object));
    *status = object;
    return code;
}

inline int free_request(void *state)
{
    Generalized *request = static_cast<Generalized *>(state);
    int code = MPI_SUCCESS;
    FERRUM_CXX_GUARDED(code = request->release(request->extra_state));
    delete request;
    return code;
}

inline int cancel_request(void *state, int complete)
{
    Generalized *request = static_cast<Generalized *>(state);
    int code = MPI_SUCCESS;
    FERRUM_CXX_GUARDED(code = request->cancel(request->extra_state, complete != 0));
    return code;
}

/* Operations get no pointer of the program, so each function needs a function of C of its own. */
enum { operations = 32 };

inline User_function **operation(int number)
{
    static User_function *functions[operations];
    return &functions[number];
}

template <int number> struct Operation {
    static void call(void *in, void *inout, int *count, MPI_Datatype *type)
    {
        FERRUM_CXX_GUARDED((*operation(number))(in, inout, *count, Datatype(*type)));
    }
    /* The function of C for this function of the program, which takes the first free place. */
    static MPI_User_function *of(User_function *function)
    {
        User_function *none = 0;
        if (__atomic_compare_exchange_n(operation(number), &none, function, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE) ||
            none == function)
            return call;
        return Operation<number + 1>::of(function);
    }
};

template <> struct Operation<operations> {
    static MPI_User_function *of(User_function *) { return 0; }
};

#undef FERRUM_CXX_GUARDED

} /* namespace detail */

} /* namespace MPI */
