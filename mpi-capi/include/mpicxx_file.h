/* A part of mpicxx.h: files. */
namespace MPI {

class FERRUM_CXX_OLD File : public detail::Holder<MPI_File> {
public:
    typedef void Errhandler_function(File &file, int *code, ...);

    File() : Holder(MPI_FILE_NULL) {}
    File(MPI_File handle) : Holder(handle) {}
    static File Open(const Intracomm &comm, const char *name, int mode, const Info &info)
    {
        File file;
        FERRUM_CXX_CALL(MPI_File_open(comm, name, mode, info, &file.handle_));
        return file;
    }
    void Close() { FERRUM_CXX_CALL(MPI_File_close(&handle_)); }
    static void Delete(const char *name, const Info &info) { FERRUM_CXX_CALL(MPI_File_delete(name, info)); }
    void Set_size(Offset size) { FERRUM_CXX_CALL(MPI_File_set_size(handle_, size)); }
    Offset Get_size() const
    {
        Offset size = 0;
        FERRUM_CXX_CALL(MPI_File_get_size(handle_, &size));
        return size;
    }
    int Get_amode() const
    {
        int mode = 0;
        FERRUM_CXX_CALL(MPI_File_get_amode(handle_, &mode));
        return mode;
    }
    Group Get_group() const
    {
        MPI_Group group = MPI_GROUP_NULL;
        FERRUM_CXX_CALL(MPI_File_get_group(handle_, &group));
        return Group(group);
    }
    void Set_view(Offset place, const Datatype &etype, const Datatype &filetype, const char *datarep, const Info &info)
    {
        FERRUM_CXX_CALL(MPI_File_set_view(handle_, place, etype, filetype, datarep, info));
    }
    void Seek(Offset offset, int whence) { FERRUM_CXX_CALL(MPI_File_seek(handle_, offset, whence)); }
    Offset Get_position() const
    {
        Offset offset = 0;
        FERRUM_CXX_CALL(MPI_File_get_position(handle_, &offset));
        return offset;
    }
    void Sync() { FERRUM_CXX_CALL(MPI_File_sync(handle_)); }

    void Read(void *data, int count, const Datatype &type)
    {
        FERRUM_CXX_CALL(MPI_File_read(handle_, data, count, type, MPI_STATUS_IGNORE));
    }
    void Read(void *data, int count, const Datatype &type, Status &status)
    {
        FERRUM_CXX_CALL(MPI_File_read(handle_, data, count, type, status.in_c()));
    }
    void Write(const void *data, int count, const Datatype &type)
    {
        FERRUM_CXX_CALL(MPI_File_write(handle_, data, count, type, MPI_STATUS_IGNORE));
    }
    void Write(const void *data, int count, const Datatype &type, Status &status)
    {
        FERRUM_CXX_CALL(MPI_File_write(handle_, data, count, type, status.in_c()));
    }
    void Read_at(Offset offset, void *data, int count, const Datatype &type)
    {
        FERRUM_CXX_CALL(MPI_File_read_at(handle_, offset, data, count, type, MPI_STATUS_IGNORE));
    }
    void Read_at(Offset offset, void *data, int count, const Datatype &type, Status &status)
    {
        FERRUM_CXX_CALL(MPI_File_read_at(handle_, offset, data, count, type, status.in_c()));
    }
    void Write_at(Offset offset, const void *data, int count, const Datatype &type)
    {
        FERRUM_CXX_CALL(MPI_File_write_at(handle_, offset, data, count, type, MPI_STATUS_IGNORE));
    }
    void Write_at(Offset offset, const void *data, int count, const Datatype &type, Status &status)
    {
        FERRUM_CXX_CALL(MPI_File_write_at(handle_, offset, data, count, type, status.in_c()));
    }

    static Errhandler Create_errhandler(Errhandler_function *function);
    void Set_errhandler(const Errhandler &handler)
    {
        FERRUM_CXX_CALL(MPI_File_set_errhandler(handle_, handler.in_c(detail::throwing_file)));
    }
    Errhandler Get_errhandler() const
    {
        MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
        FERRUM_CXX_CALL(MPI_File_get_errhandler(handle_, &handler));
        return Errhandler::from_c(handler, detail::throwing_file);
    }
    void Call_errhandler(int code) const
    {
        detail::Call call;
        int result = MPI_File_call_errhandler(handle_, code);
        call.check(result == MPI_SUCCESS ? code : result);
    }
};

} /* namespace MPI */
