/* A part of mpicxx.h: what all communicators have. */
namespace MPI {

class FERRUM_CXX_OLD Comm : public detail::Holder<MPI_Comm> {
public:
    typedef void Errhandler_function(Comm &comm, int *code, ...);
    typedef int Copy_attr_function(const Comm &oldcomm, int comm_keyval, void *extra_state, void *attribute_val_in,
                                   void *attribute_val_out, bool &flag);
    typedef int Delete_attr_function(Comm &comm, int comm_keyval, void *attribute_val, void *extra_state);

    virtual ~Comm() {}
    /* A new object with a duplicate communicator; the program deletes it. */
    virtual Comm &Clone() const = 0;

    int Get_size() const
    {
        int size = MPI_UNDEFINED;
        FERRUM_CXX_CALL(MPI_Comm_size(handle_, &size));
        return size;
    }
    int Get_rank() const
    {
        int rank = MPI_UNDEFINED;
        FERRUM_CXX_CALL(MPI_Comm_rank(handle_, &rank));
        return rank;
    }
    Group Get_group() const
    {
        MPI_Group group = MPI_GROUP_NULL;
        FERRUM_CXX_CALL(MPI_Comm_group(handle_, &group));
        return Group(group);
    }
    bool Is_inter() const
    {
        int flag = 0;
        FERRUM_CXX_CALL(MPI_Comm_test_inter(handle_, &flag));
        return flag != 0;
    }
    int Get_topology() const
    {
        int topology = MPI_UNDEFINED;
        FERRUM_CXX_CALL(MPI_Topo_test(handle_, &topology));
        return topology;
    }
    static int Compare(const Comm &one, const Comm &other)
    {
        int result = MPI_UNEQUAL;
        FERRUM_CXX_CALL(MPI_Comm_compare(one, other, &result));
        return result;
    }
    void Free() { FERRUM_CXX_CALL(MPI_Comm_free(&handle_)); }
    void Disconnect() { FERRUM_CXX_CALL(MPI_Comm_disconnect(&handle_)); }
    void Abort(int code) const { FERRUM_CXX_CALL(MPI_Abort(handle_, code)); }
    void Get_name(char *name, int &length) const { FERRUM_CXX_CALL(MPI_Comm_get_name(handle_, name, &length)); }
    void Set_name(const char *name) { FERRUM_CXX_CALL(MPI_Comm_set_name(handle_, name)); }

    static Errhandler Create_errhandler(Errhandler_function *function);
    void Set_errhandler(const Errhandler &handler)
    {
        FERRUM_CXX_CALL(MPI_Comm_set_errhandler(handle_, handler.in_c(detail::throwing_comm)));
    }
    Errhandler Get_errhandler() const
    {
        MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
        FERRUM_CXX_CALL(MPI_Comm_get_errhandler(handle_, &handler));
        return Errhandler::from_c(handler, detail::throwing_comm);
    }
    /* Throws where the handler does: the call itself succeeds. */
    void Call_errhandler(int code) const
    {
        detail::Call call;
        int result = MPI_Comm_call_errhandler(handle_, code);
        call.check(result == MPI_SUCCESS ? code : result);
    }

    static int Create_keyval(detail::Either<Copy_attr_function, MPI_Comm_copy_attr_function> copy,
                             detail::Either<Delete_attr_function, MPI_Comm_delete_attr_function> remove,
                             void *extra_state);
    static void Free_keyval(int &keyval) { FERRUM_CXX_CALL(MPI_Comm_free_keyval(&keyval)); }
    void Set_attr(int keyval, const void *value) const
    {
        FERRUM_CXX_CALL(MPI_Comm_set_attr(handle_, keyval, const_cast<void *>(value)));
    }
    bool Get_attr(int keyval, void *value) const
    {
        int flag = 0;
        FERRUM_CXX_CALL(MPI_Comm_get_attr(handle_, keyval, value, &flag));
        return flag != 0;
    }
    void Delete_attr(int keyval) const { FERRUM_CXX_CALL(MPI_Comm_delete_attr(handle_, keyval)); }

#define FERRUM_CXX_SEND(Mode)                                                                                          \
    void Mode(const void *data, int count, const Datatype &type, int to, int tag) const                                \
    {                                                                                                                  \
        FERRUM_CXX_CALL(MPI_##Mode(data, count, type, to, tag, handle_));                                              \
    }
#define FERRUM_CXX_START(Mode, Kind)                                                                                   \
    Kind Mode(const void *data, int count, const Datatype &type, int to, int tag) const                                \
    {                                                                                                                  \
        MPI_Request request = MPI_REQUEST_NULL;                                                                        \
        FERRUM_CXX_CALL(MPI_##Mode(data, count, type, to, tag, handle_, &request));                                    \
        return Kind(request);                                                                                          \
    }
    FERRUM_CXX_SEND(Send)
    FERRUM_CXX_SEND(Bsend)
    FERRUM_CXX_SEND(Ssend)
    FERRUM_CXX_SEND(Rsend)
    FERRUM_CXX_START(Isend, Request)
    FERRUM_CXX_START(Ibsend, Request)
    FERRUM_CXX_START(Issend, Request)
    FERRUM_CXX_START(Irsend, Request)
    FERRUM_CXX_START(Send_init, Prequest)
    FERRUM_CXX_START(Bsend_init, Prequest)
    FERRUM_CXX_START(Ssend_init, Prequest)
    FERRUM_CXX_START(Rsend_init, Prequest)
#undef FERRUM_CXX_SEND
#undef FERRUM_CXX_START
    void Recv(void *data, int count, const Datatype &type, int from, int tag) const
    {
        FERRUM_CXX_CALL(MPI_Recv(data, count, type, from, tag, handle_, MPI_STATUS_IGNORE));
    }
    void Recv(void *data, int count, const Datatype &type, int from, int tag, Status &status) const
    {
        FERRUM_CXX_CALL(MPI_Recv(data, count, type, from, tag, handle_, status.in_c()));
    }
    Request Irecv(void *data, int count, const Datatype &type, int from, int tag) const
    {
        MPI_Request request = MPI_REQUEST_NULL;
        FERRUM_CXX_CALL(MPI_Irecv(data, count, type, from, tag, handle_, &request));
        return Request(request);
    }
    Prequest Recv_init(void *data, int count, const Datatype &type, int from, int tag) const
    {
        MPI_Request request = MPI_REQUEST_NULL;
        FERRUM_CXX_CALL(MPI_Recv_init(data, count, type, from, tag, handle_, &request));
        return Prequest(request);
    }
    void Sendrecv(const void *data, int count, const Datatype &type, int to, int tag, void *into, int most,
                  const Datatype &as, int from, int its_tag) const
    {
        FERRUM_CXX_CALL(MPI_Sendrecv(data, count, type, to, tag, into, most, as, from, its_tag, handle_,
                                     MPI_STATUS_IGNORE));
    }
    void Sendrecv(const void *data, int count, const Datatype &type, int to, int tag, void *into, int most,
                  const Datatype &as, int from, int its_tag, Status &status) const
    {
        FERRUM_CXX_CALL(MPI_Sendrecv(data, count, type, to, tag, into, most, as, from, its_tag, handle_,
                                     status.in_c()));
    }
    void Probe(int from, int tag, Status &status) const
    {
        FERRUM_CXX_CALL(MPI_Probe(from, tag, handle_, status.in_c()));
    }
    bool Iprobe(int from, int tag, Status &status) const
    {
        int flag = 0;
        FERRUM_CXX_CALL(MPI_Iprobe(from, tag, handle_, &flag, status.in_c()));
        return flag != 0;
    }

protected:
    explicit Comm(MPI_Comm handle) : Holder(handle) {}
    /* The handle of a duplicate. */
    MPI_Comm duplicate() const
    {
        MPI_Comm copy = MPI_COMM_NULL;
        FERRUM_CXX_CALL(MPI_Comm_dup(handle_, &copy));
        return copy;
    }
};

/* The class of MPI::COMM_NULL, which every class of communicators can be made of. */
class FERRUM_CXX_OLD Comm_Null : public Comm {
public:
    Comm_Null() : Comm(MPI_COMM_NULL) {}
    virtual Comm &Clone() const { return *new Comm_Null(*this); }
};

} /* namespace MPI */
