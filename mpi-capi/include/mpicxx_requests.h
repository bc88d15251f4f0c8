/* A part of mpicxx.h: statuses and requests. */
namespace MPI {

class FERRUM_CXX_OLD Status {
public:
    Status() { memset(&status_, 0, sizeof status_); }
    Status(const MPI_Status &status) : status_(status) {}
    operator MPI_Status() const { return status_; }
    int Get_source() const { return status_.MPI_SOURCE; }
    int Get_tag() const { return status_.MPI_TAG; }
    int Get_error() const { return status_.MPI_ERROR; }
    void Set_source(int source) { status_.MPI_SOURCE = source; }
    void Set_tag(int tag) { status_.MPI_TAG = tag; }
    void Set_error(int error) { status_.MPI_ERROR = error; }
    int Get_count(const Datatype &type) const
    {
        int count = MPI_UNDEFINED;
        FERRUM_CXX_CALL(MPI_Get_count(&status_, type, &count));
        return count;
    }
    int Get_elements(const Datatype &type) const
    {
        int count = MPI_UNDEFINED;
        FERRUM_CXX_CALL(MPI_Get_elements(&status_, type, &count));
        return count;
    }
    bool Is_cancelled() const
    {
        int flag = 0;
        FERRUM_CXX_CALL(MPI_Test_cancelled(&status_, &flag));
        return flag != 0;
    }
    void Set_elements(const Datatype &type, int count)
    {
        FERRUM_CXX_CALL(MPI_Status_set_elements(&status_, type, count));
    }
    void Set_cancelled(bool flag) { FERRUM_CXX_CALL(MPI_Status_set_cancelled(&status_, flag)); }

    /* Not for programs: the status of C. */
    MPI_Status *in_c() { return &status_; }

private:
    MPI_Status status_;
};

namespace detail {

/* Statuses of C for a list; none is wanted where the program passes none. */
class Statuses {
public:
    Statuses(int count, Status statuses[])
        : to_(statuses), statuses_(statuses && count > 0 ? static_cast<size_t>(count) : 0)
    {
    }
    MPI_Status *data() { return statuses_.empty() ? MPI_STATUSES_IGNORE : &statuses_[0]; }
    /* Also before an exception: the codes of the single requests are in the statuses. */
    ~Statuses()
    {
        for (size_t i = 0; i < statuses_.size(); i++)
            to_[i] = statuses_[i];
    }

private:
    Status *to_;
    std::vector<MPI_Status> statuses_;
};

} /* namespace detail */

class FERRUM_CXX_OLD Request : public detail::Holder<MPI_Request> {
public:
    Request() : Holder(MPI_REQUEST_NULL) {}
    Request(MPI_Request handle) : Holder(handle) {}
    void Wait() { FERRUM_CXX_CALL(MPI_Wait(&handle_, MPI_STATUS_IGNORE)); }
    void Wait(Status &status) { FERRUM_CXX_CALL(MPI_Wait(&handle_, status.in_c())); }
    bool Test()
    {
        int flag = 0;
        FERRUM_CXX_CALL(MPI_Test(&handle_, &flag, MPI_STATUS_IGNORE));
        return flag != 0;
    }
    bool Test(Status &status)
    {
        int flag = 0;
        FERRUM_CXX_CALL(MPI_Test(&handle_, &flag, status.in_c()));
        return flag != 0;
    }
    bool Get_status() const
    {
        int flag = 0;
        FERRUM_CXX_CALL(MPI_Request_get_status(handle_, &flag, MPI_STATUS_IGNORE));
        return flag != 0;
    }
    bool Get_status(Status &status) const
    {
        int flag = 0;
        FERRUM_CXX_CALL(MPI_Request_get_status(handle_, &flag, status.in_c()));
        return flag != 0;
    }
    void Free() { FERRUM_CXX_CALL(MPI_Request_free(&handle_)); }
    void Cancel() const
    {
        MPI_Request request = handle_;
        FERRUM_CXX_CALL(MPI_Cancel(&request));
    }
    static void Waitall(int count, Request requests[]) { Waitall(count, requests, 0); }
    static void Waitall(int count, Request requests[], Status statuses[])
    {
        List list(count, requests);
        detail::Statuses results(count, statuses);
        FERRUM_CXX_CALL(MPI_Waitall(count, list.handles.data(), results.data()));
    }
    static bool Testall(int count, Request requests[]) { return Testall(count, requests, 0); }
    static bool Testall(int count, Request requests[], Status statuses[])
    {
        int flag = 0;
        List list(count, requests);
        detail::Statuses results(count, statuses);
        FERRUM_CXX_CALL(MPI_Testall(count, list.handles.data(), &flag, results.data()));
        return flag != 0;
    }
    static int Waitany(int count, Request requests[])
    {
        Status status;
        return Waitany(count, requests, status);
    }
    static int Waitany(int count, Request requests[], Status &status)
    {
        int index = MPI_UNDEFINED;
        List list(count, requests);
        FERRUM_CXX_CALL(MPI_Waitany(count, list.handles.data(), &index, status.in_c()));
        return index;
    }
    static bool Testany(int count, Request requests[], int &index)
    {
        Status status;
        return Testany(count, requests, index, status);
    }
    static bool Testany(int count, Request requests[], int &index, Status &status)
    {
        int flag = 0;
        List list(count, requests);
        FERRUM_CXX_CALL(MPI_Testany(count, list.handles.data(), &index, &flag, status.in_c()));
        return flag != 0;
    }

protected:
    /* The handles of a list, stored back at its end, also before an exception. */
    struct List {
        List(int number, Request list[]) : handles(number, list), count(number), requests(list) {}
        ~List() { handles.store(count, requests); }
        detail::Handles<MPI_Request, Request> handles;
        int count;
        Request *requests;
    };
};

/* A persistent request. */
class FERRUM_CXX_OLD Prequest : public Request {
public:
    Prequest() {}
    Prequest(MPI_Request handle) : Request(handle) {}
    Prequest(const Request &request) : Request(request) {}
    void Start() { FERRUM_CXX_CALL(MPI_Start(&handle_)); }
    static void Startall(int count, Prequest requests[])
    {
        detail::Handles<MPI_Request, Prequest> handles(count, requests);
        FERRUM_CXX_CALL(MPI_Startall(count, handles.data()));
        handles.store(count, requests);
    }
};

/* A generalized request. */
class FERRUM_CXX_OLD Grequest : public Request {
public:
    typedef int Query_function(void *extra_state, Status &status);
    typedef int Free_function(void *extra_state);
    typedef int Cancel_function(void *extra_state, bool complete);

    Grequest() {}
    Grequest(MPI_Request handle) : Request(handle) {}
    Grequest(const Request &request) : Request(request) {}
    static Grequest Start(Query_function *query, Free_function *release, Cancel_function *cancel, void *extra_state);
    void Complete() { FERRUM_CXX_CALL(MPI_Grequest_complete(handle_)); }
};

} /* namespace MPI */
