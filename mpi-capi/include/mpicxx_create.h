/* A part of mpicxx.h: error handlers, keyvals, requests and operations of the program's functions. */
namespace MPI {

inline Errhandler Comm::Create_errhandler(Errhandler_function *function)
{
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    FERRUM_CXX_CALL(MPI_Comm_create_errhandler(function ? detail::handle_comm : 0, &handler));
    if (handler != MPI_ERRHANDLER_NULL)
        detail::Handlers<Errhandler_function>::add(handler, function);
    return Errhandler(handler);
}

inline Errhandler Win::Create_errhandler(Errhandler_function *function)
{
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    FERRUM_CXX_CALL(MPI_Win_create_errhandler(function ? detail::handle_win : 0, &handler));
    if (handler != MPI_ERRHANDLER_NULL)
        detail::Handlers<Errhandler_function>::add(handler, function);
    return Errhandler(handler);
}

inline Errhandler File::Create_errhandler(Errhandler_function *function)
{
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    FERRUM_CXX_CALL(MPI_File_create_errhandler(function ? detail::handle_file : 0, &handler));
    if (handler != MPI_ERRHANDLER_NULL)
        detail::Handlers<Errhandler_function>::add(handler, function);
    return Errhandler(handler);
}

inline int Comm::Create_keyval(detail::Either<Copy_attr_function, MPI_Comm_copy_attr_function> copy,
                               detail::Either<Delete_attr_function, MPI_Comm_delete_attr_function> remove,
                               void *extra_state)
{
    int keyval = MPI_KEYVAL_INVALID;
    FERRUM_CXX_CALL(MPI_Comm_create_keyval(detail::copy_comm, detail::delete_comm, &keyval,
                                           new detail::Comm_keyval(copy, remove, extra_state)));
    return keyval;
}

inline int Datatype::Create_keyval(detail::Either<Copy_attr_function, MPI_Type_copy_attr_function> copy,
                                   detail::Either<Delete_attr_function, MPI_Type_delete_attr_function> remove,
                                   void *extra_state)
{
    int keyval = MPI_KEYVAL_INVALID;
    FERRUM_CXX_CALL(MPI_Type_create_keyval(detail::copy_type, detail::delete_type, &keyval,
                                           new detail::Type_keyval(copy, remove, extra_state)));
    return keyval;
}

/* Windows are not copied. */
inline int Win::Create_keyval(detail::Either<Copy_attr_function, MPI_Win_copy_attr_function> copy,
                              detail::Either<Delete_attr_function, MPI_Win_delete_attr_function> remove,
                              void *extra_state)
{
    int keyval = MPI_KEYVAL_INVALID;
    FERRUM_CXX_CALL(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, detail::delete_win, &keyval,
                                          new detail::Win_keyval(copy, remove, extra_state)));
    return keyval;
}

inline Grequest Grequest::Start(Query_function *query, Free_function *release, Cancel_function *cancel,
                                void *extra_state)
{
    MPI_Request request = MPI_REQUEST_NULL;
    detail::Generalized functions = {query, release, cancel, extra_state};
    FERRUM_CXX_CALL(MPI_Grequest_start(query ? detail::query_request : 0, release ? detail::free_request : 0,
                                       cancel ? detail::cancel_request : 0, new detail::Generalized(functions),
                                       &request));
    return Grequest(request);
}

inline void Op::Init(User_function *function, bool commute)
{
    MPI_User_function *in_c = function ? detail::Operation<0>::of(function) : 0;
    if (function && !in_c)
        FERRUM_CXX_CALL(MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_NO_MEM) == MPI_SUCCESS ? MPI_ERR_NO_MEM
                                                                                               : MPI_ERR_OTHER);
    else
        FERRUM_CXX_CALL(MPI_Op_create(in_c, commute, &handle_));
}

} /* namespace MPI */
