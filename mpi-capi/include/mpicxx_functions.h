/* A part of mpicxx.h: functions without an object. */
namespace MPI {

FERRUM_CXX_OLD inline void Init(int &argc, char **&argv)
{
    FERRUM_CXX_CALL(MPI_Init(&argc, &argv));
}

FERRUM_CXX_OLD inline void Init()
{
    FERRUM_CXX_CALL(MPI_Init(0, 0));
}

FERRUM_CXX_OLD inline int Init_thread(int &argc, char **&argv, int required)
{
    int provided = MPI_THREAD_SINGLE;
    FERRUM_CXX_CALL(MPI_Init_thread(&argc, &argv, required, &provided));
    return provided;
}

FERRUM_CXX_OLD inline int Init_thread(int required)
{
    int provided = MPI_THREAD_SINGLE;
    FERRUM_CXX_CALL(MPI_Init_thread(0, 0, required, &provided));
    return provided;
}

FERRUM_CXX_OLD inline void Finalize()
{
    FERRUM_CXX_CALL(MPI_Finalize());
}

FERRUM_CXX_OLD inline bool Is_initialized()
{
    int flag = 0;
    FERRUM_CXX_CALL(MPI_Initialized(&flag));
    return flag != 0;
}

FERRUM_CXX_OLD inline bool Is_finalized()
{
    int flag = 0;
    FERRUM_CXX_CALL(MPI_Finalized(&flag));
    return flag != 0;
}

FERRUM_CXX_OLD inline int Query_thread()
{
    int provided = MPI_THREAD_SINGLE;
    FERRUM_CXX_CALL(MPI_Query_thread(&provided));
    return provided;
}

FERRUM_CXX_OLD inline bool Is_thread_main()
{
    int flag = 0;
    FERRUM_CXX_CALL(MPI_Is_thread_main(&flag));
    return flag != 0;
}

FERRUM_CXX_OLD inline void Get_version(int &version, int &subversion)
{
    FERRUM_CXX_CALL(MPI_Get_version(&version, &subversion));
}

FERRUM_CXX_OLD inline void Get_processor_name(char *name, int &length)
{
    FERRUM_CXX_CALL(MPI_Get_processor_name(name, &length));
}

FERRUM_CXX_OLD inline double Wtime()
{
    return MPI_Wtime();
}

FERRUM_CXX_OLD inline double Wtick()
{
    return MPI_Wtick();
}

FERRUM_CXX_OLD inline int Get_error_class(int code)
{
    int error_class = MPI_ERR_UNKNOWN;
    FERRUM_CXX_CALL(MPI_Error_class(code, &error_class));
    return error_class;
}

FERRUM_CXX_OLD inline void Get_error_string(int code, char *text, int &length)
{
    FERRUM_CXX_CALL(MPI_Error_string(code, text, &length));
}

FERRUM_CXX_OLD inline int Add_error_class()
{
    int error_class = MPI_ERR_UNKNOWN;
    FERRUM_CXX_CALL(MPI_Add_error_class(&error_class));
    return error_class;
}

FERRUM_CXX_OLD inline int Add_error_code(int error_class)
{
    int code = MPI_ERR_UNKNOWN;
    FERRUM_CXX_CALL(MPI_Add_error_code(error_class, &code));
    return code;
}

FERRUM_CXX_OLD inline void Add_error_string(int code, const char *text)
{
    FERRUM_CXX_CALL(MPI_Add_error_string(code, text));
}

FERRUM_CXX_OLD inline void *Alloc_mem(Aint size, const Info &info)
{
    void *memory = 0;
    FERRUM_CXX_CALL(MPI_Alloc_mem(size, info, &memory));
    return memory;
}

FERRUM_CXX_OLD inline void Free_mem(void *memory)
{
    FERRUM_CXX_CALL(MPI_Free_mem(memory));
}

FERRUM_CXX_OLD inline void Attach_buffer(void *buffer, int bytes)
{
    FERRUM_CXX_CALL(MPI_Buffer_attach(buffer, bytes));
}

FERRUM_CXX_OLD inline int Detach_buffer(void *&buffer)
{
    int bytes = 0;
    FERRUM_CXX_CALL(MPI_Buffer_detach(&buffer, &bytes));
    return bytes;
}

FERRUM_CXX_OLD inline Aint Get_address(const void *location)
{
    Aint address = 0;
    FERRUM_CXX_CALL(MPI_Get_address(location, &address));
    return address;
}

FERRUM_CXX_OLD inline void Compute_dims(int nodes, int dimensions, int lengths[])
{
    FERRUM_CXX_CALL(MPI_Dims_create(nodes, dimensions, lengths));
}

/* A function of C cannot be given the arguments of `...`, so each compiler has its own way to pass them on. */
#if __cplusplus >= 201103L
template <class... Further> FERRUM_CXX_OLD inline void Pcontrol(const int level, Further... further)
{
    FERRUM_CXX_CALL(MPI_Pcontrol(level, further...));
}
#elif defined __clang__
/* Clang has none in C++98: a tool gets the level alone. */
FERRUM_CXX_OLD inline void Pcontrol(const int level, ...)
{
    FERRUM_CXX_CALL(MPI_Pcontrol(level));
}
#else
FERRUM_CXX_OLD extern inline __attribute__((always_inline, gnu_inline)) void Pcontrol(const int level, ...)
{
    FERRUM_CXX_CALL(MPI_Pcontrol(level, __builtin_va_arg_pack()));
}
#endif

} /* namespace MPI */
