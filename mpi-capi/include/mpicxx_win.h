/* A part of mpicxx.h: windows. */
namespace MPI {

class FERRUM_CXX_OLD Win : public detail::Holder<MPI_Win> {
public:
    typedef void Errhandler_function(Win &win, int *code, ...);
    typedef int Copy_attr_function(const Win &oldwin, int win_keyval, void *extra_state, void *attribute_val_in,
                                   void *attribute_val_out, bool &flag);
    typedef int Delete_attr_function(Win &win, int win_keyval, void *attribute_val, void *extra_state);

    Win() : Holder(MPI_WIN_NULL) {}
    Win(MPI_Win handle) : Holder(handle) {}
    static Win Create(const void *base, Aint size, int unit, const Info &info, const Intracomm &comm)
    {
        Win win;
        FERRUM_CXX_CALL(MPI_Win_create(const_cast<void *>(base), size, unit, info, comm, &win.handle_));
        return win;
    }
    void Free() { FERRUM_CXX_CALL(MPI_Win_free(&handle_)); }
    Group Get_group() const
    {
        MPI_Group group = MPI_GROUP_NULL;
        FERRUM_CXX_CALL(MPI_Win_get_group(handle_, &group));
        return Group(group);
    }
    void Fence(int assertions) const { FERRUM_CXX_CALL(MPI_Win_fence(assertions, handle_)); }
    void Put(const void *data, int count, const Datatype &type, int target, Aint place, int number,
             const Datatype &as) const
    {
        FERRUM_CXX_CALL(MPI_Put(data, count, type, target, place, number, as, handle_));
    }
    void Get(void *data, int count, const Datatype &type, int target, Aint place, int number, const Datatype &as) const
    {
        FERRUM_CXX_CALL(MPI_Get(data, count, type, target, place, number, as, handle_));
    }
    void Accumulate(const void *data, int count, const Datatype &type, int target, Aint place, int number,
                    const Datatype &as, const Op &op) const
    {
        FERRUM_CXX_CALL(MPI_Accumulate(data, count, type, target, place, number, as, op, handle_));
    }
    void Get_name(char *name, int &length) const { FERRUM_CXX_CALL(MPI_Win_get_name(handle_, name, &length)); }
    void Set_name(const char *name) { FERRUM_CXX_CALL(MPI_Win_set_name(handle_, name)); }

    static Errhandler Create_errhandler(Errhandler_function *function);
    void Set_errhandler(const Errhandler &handler)
    {
        FERRUM_CXX_CALL(MPI_Win_set_errhandler(handle_, handler.in_c(detail::throwing_win)));
    }
    Errhandler Get_errhandler() const
    {
        MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
        FERRUM_CXX_CALL(MPI_Win_get_errhandler(handle_, &handler));
        return Errhandler::from_c(handler, detail::throwing_win);
    }
    void Call_errhandler(int code) const
    {
        detail::Call call;
        int result = MPI_Win_call_errhandler(handle_, code);
        call.check(result == MPI_SUCCESS ? code : result);
    }

    static int Create_keyval(detail::Either<Copy_attr_function, MPI_Win_copy_attr_function> copy,
                             detail::Either<Delete_attr_function, MPI_Win_delete_attr_function> remove,
                             void *extra_state);
    static void Free_keyval(int &keyval) { FERRUM_CXX_CALL(MPI_Win_free_keyval(&keyval)); }
    void Set_attr(int keyval, const void *value)
    {
        FERRUM_CXX_CALL(MPI_Win_set_attr(handle_, keyval, const_cast<void *>(value)));
    }
    bool Get_attr(int keyval, void *value) const
    {
        int flag = 0;
        FERRUM_CXX_CALL(MPI_Win_get_attr(handle_, keyval, value, &flag));
        return flag != 0;
    }
    void Delete_attr(int keyval) { FERRUM_CXX_CALL(MPI_Win_delete_attr(handle_, keyval)); }
};

} /* namespace MPI */
