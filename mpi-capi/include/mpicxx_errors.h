/* A part of mpicxx.h: exceptions, and how they are thrown after a function of C has returned. */
namespace MPI {

typedef MPI_Aint Aint;
typedef MPI_Offset Offset;

/* An error of a call: its code, class and text. */
class FERRUM_CXX_OLD Exception : public std::exception {
public:
    explicit Exception(int code) : code_(code), class_(MPI_ERR_UNKNOWN)
    {
        int length = 0;
        text_[0] = 0;
        PMPI_Error_class(code, &class_);
        PMPI_Error_string(code, text_, &length);
    }
#if __cplusplus >= 201103L
    virtual ~Exception() noexcept {}
    Exception(const Exception &) = default;
    Exception &operator=(const Exception &) = default;
    virtual const char *what() const noexcept { return text_; }
#else
    virtual ~Exception() throw() {}
    virtual const char *what() const throw() { return text_; }
#endif
    int Get_error_code() const { return code_; }
    int Get_error_class() const { return class_; }
    const char *Get_error_string() const { return text_; }

private:
    int code_, class_;
    char text_[MPI_MAX_ERROR_STRING];
};

/* Not for programs. */
namespace detail {

/* One call of a function of C by this namespace: what was raised during it. */
class Call {
public:
    Call() : outer_(current()), raised_(false), thrown_(0) { current() = this; }
    ~Call()
    {
        current() = outer_;
        delete thrown_;
    }
    /* Throws what a callback has thrown, or an error whose handler is ERRORS_THROW_EXCEPTIONS. */
    void check(int code)
    {
        if (thrown_)
            throw Exception(*thrown_);
        if (code != MPI_SUCCESS && raised_)
            throw Exception(code);
    }
    /* Called by the error handler; without a call of this namespace the code is returned to its caller. */
    static void raise()
    {
        if (current())
            current()->raised_ = true;
    }
    /* Called where a callback of the program has thrown. */
    static void keep(const Exception &thrown)
    {
        if (current() && !current()->thrown_)
            current()->thrown_ = new Exception(thrown);
    }

private:
    Call(const Call &);
    Call &operator=(const Call &);
    /* The innermost call of this thread. */
    static Call *&current()
    {
        static __thread Call *innermost = 0;
        return innermost;
    }
    Call *outer_;
    bool raised_;
    Exception *thrown_;
};

inline void raise_comm(MPI_Comm *, int *, ...)
{
    Call::raise();
}

inline void raise_win(MPI_Win *, int *, ...)
{
    Call::raise();
}

inline void raise_file(MPI_File *, int *, ...)
{
    Call::raise();
}

/* The handlers of C that ERRORS_THROW_EXCEPTIONS stands for, made when they are first used. */
inline MPI_Errhandler throwing(MPI_Comm_errhandler_function *raise)
{
    MPI_Errhandler handler = MPI_ERRORS_RETURN;
    PMPI_Comm_create_errhandler(raise, &handler);
    return handler;
}

inline MPI_Errhandler throwing(MPI_Win_errhandler_function *raise)
{
    MPI_Errhandler handler = MPI_ERRORS_RETURN;
    PMPI_Win_create_errhandler(raise, &handler);
    return handler;
}

inline MPI_Errhandler throwing(MPI_File_errhandler_function *raise)
{
    MPI_Errhandler handler = MPI_ERRORS_RETURN;
    PMPI_File_create_errhandler(raise, &handler);
    return handler;
}

inline MPI_Errhandler throwing_comm()
{
    static const MPI_Errhandler handler = throwing(raise_comm);
    return handler;
}

inline MPI_Errhandler throwing_win()
{
    static const MPI_Errhandler handler = throwing(raise_win);
    return handler;
}

inline MPI_Errhandler throwing_file()
{
    static const MPI_Errhandler handler = throwing(raise_file);
    return handler;
}

} /* namespace detail */

/* An error handler of any kind of object. */
class FERRUM_CXX_OLD Errhandler {
public:
    Errhandler() : handle_(MPI_ERRHANDLER_NULL), throws_(false) {}
    Errhandler(MPI_Errhandler handle) : handle_(handle), throws_(false) {}
    operator MPI_Errhandler() const { return handle_; }
    bool operator==(const Errhandler &other) const { return handle_ == other.handle_ && throws_ == other.throws_; }
    bool operator!=(const Errhandler &other) const { return !(*this == other); }
    bool operator==(MPI_Errhandler other) const { return handle_ == other && !throws_; }
    bool operator!=(MPI_Errhandler other) const { return !(*this == other); }
    void Free()
    {
        if (!throws_)
            FERRUM_CXX_CALL(MPI_Errhandler_free(&handle_));
        handle_ = MPI_ERRHANDLER_NULL;
        throws_ = false;
    }

    /* Not for programs. ERRORS_THROW_EXCEPTIONS; the handler of C for an object; the handler that C returned. */
    static Errhandler of_exceptions()
    {
        Errhandler handler;
        handler.throws_ = true;
        return handler;
    }
    MPI_Errhandler in_c(MPI_Errhandler (*throwing)()) const { return throws_ ? throwing() : handle_; }
    static Errhandler from_c(MPI_Errhandler handle, MPI_Errhandler (*throwing)())
    {
        if (handle == MPI_ERRORS_ARE_FATAL || handle == MPI_ERRORS_RETURN || handle != throwing())
            return Errhandler(handle);
        PMPI_Errhandler_free(&handle);
        return of_exceptions();
    }

private:
    MPI_Errhandler handle_;
    bool throws_;
};

} /* namespace MPI */
