/* A part of mpicxx.h: groups, datatypes, operations, info objects, statuses. */
namespace MPI {

class Datatype;

typedef void User_function(const void *invec, void *inoutvec, int len, const Datatype &datatype);

namespace detail {

/* A function of the program in the form of C++ or in that of C. */
template <class Cxx, class C> struct Either {
    Either(Cxx *function) : cxx(function), c(0) {}
    Either(C *function) : cxx(0), c(function) {}
    Cxx *cxx;
    C *c;
};

/* What all classes of handles have. */
template <class Handle> class Holder {
public:
    operator Handle() const { return handle_; }
    bool operator==(const Holder &other) const { return handle_ == other.handle_; }
    bool operator!=(const Holder &other) const { return handle_ != other.handle_; }

protected:
    explicit Holder(Handle handle) : handle_(handle) {}
    Handle handle_;
};

/* The handles of C of objects, which a function of C may change. */
template <class Handle, class Object> class Handles {
public:
    Handles(int count, const Object objects[]) : handles_(count > 0 ? static_cast<size_t>(count) + 1 : 1)
    {
        for (int i = 0; i < count; i++)
            handles_[static_cast<size_t>(i)] = objects[i];
    }
    Handle *data() { return &handles_[0]; }
    void store(int count, Object objects[]) const
    {
        for (int i = 0; i < count; i++)
            objects[i] = Object(handles_[static_cast<size_t>(i)]);
    }

private:
    std::vector<Handle> handles_;
};

} /* namespace detail */

class FERRUM_CXX_OLD Group : public detail::Holder<MPI_Group> {
public:
    Group() : Holder(MPI_GROUP_NULL) {}
    Group(MPI_Group handle) : Holder(handle) {}
    int Get_size() const
    {
        int size = MPI_UNDEFINED;
        FERRUM_CXX_CALL(MPI_Group_size(handle_, &size));
        return size;
    }
    int Get_rank() const
    {
        int rank = MPI_UNDEFINED;
        FERRUM_CXX_CALL(MPI_Group_rank(handle_, &rank));
        return rank;
    }
    static int Compare(const Group &one, const Group &other)
    {
        int result = MPI_UNEQUAL;
        FERRUM_CXX_CALL(MPI_Group_compare(one, other, &result));
        return result;
    }
    static void Translate_ranks(const Group &one, int count, const int ranks[], const Group &other, int translated[])
    {
        FERRUM_CXX_CALL(MPI_Group_translate_ranks(one, count, ranks, other, translated));
    }
    static Group Union(const Group &one, const Group &other)
    {
        Group group;
        FERRUM_CXX_CALL(MPI_Group_union(one, other, &group.handle_));
        return group;
    }
    static Group Intersect(const Group &one, const Group &other)
    {
        Group group;
        FERRUM_CXX_CALL(MPI_Group_intersection(one, other, &group.handle_));
        return group;
    }
    static Group Difference(const Group &one, const Group &other)
    {
        Group group;
        FERRUM_CXX_CALL(MPI_Group_difference(one, other, &group.handle_));
        return group;
    }
    Group Incl(int count, const int ranks[]) const
    {
        Group group;
        FERRUM_CXX_CALL(MPI_Group_incl(handle_, count, ranks, &group.handle_));
        return group;
    }
    Group Excl(int count, const int ranks[]) const
    {
        Group group;
        FERRUM_CXX_CALL(MPI_Group_excl(handle_, count, ranks, &group.handle_));
        return group;
    }
    void Free() { FERRUM_CXX_CALL(MPI_Group_free(&handle_)); }
};

class FERRUM_CXX_OLD Datatype : public detail::Holder<MPI_Datatype> {
public:
    typedef int Copy_attr_function(const Datatype &oldtype, int type_keyval, void *extra_state,
                                   const void *attribute_val_in, void *attribute_val_out, bool &flag);
    typedef int Delete_attr_function(Datatype &type, int type_keyval, void *attribute_val, void *extra_state);

    Datatype() : Holder(MPI_DATATYPE_NULL) {}
    Datatype(MPI_Datatype handle) : Holder(handle) {}
    int Get_size() const
    {
        int size = MPI_UNDEFINED;
        FERRUM_CXX_CALL(MPI_Type_size(handle_, &size));
        return size;
    }
    void Get_extent(Aint &lower_bound, Aint &extent) const
    {
        FERRUM_CXX_CALL(MPI_Type_get_extent(handle_, &lower_bound, &extent));
    }
    void Get_true_extent(Aint &lower_bound, Aint &extent) const
    {
        FERRUM_CXX_CALL(MPI_Type_get_true_extent(handle_, &lower_bound, &extent));
    }
    Datatype Create_contiguous(int count) const
    {
        Datatype type;
        FERRUM_CXX_CALL(MPI_Type_contiguous(count, handle_, &type.handle_));
        return type;
    }
    Datatype Create_vector(int count, int length, int stride) const
    {
        Datatype type;
        FERRUM_CXX_CALL(MPI_Type_vector(count, length, stride, handle_, &type.handle_));
        return type;
    }
    Datatype Create_indexed(int count, const int lengths[], const int places[]) const
    {
        Datatype type;
        FERRUM_CXX_CALL(MPI_Type_indexed(count, lengths, places, handle_, &type.handle_));
        return type;
    }
    Datatype Create_resized(Aint lower_bound, Aint extent) const
    {
        Datatype type;
        FERRUM_CXX_CALL(MPI_Type_create_resized(handle_, lower_bound, extent, &type.handle_));
        return type;
    }
    static Datatype Create_struct(int count, const int lengths[], const Aint places[], const Datatype types[])
    {
        Datatype type;
        detail::Handles<MPI_Datatype, Datatype> handles(count, types);
        FERRUM_CXX_CALL(MPI_Type_create_struct(count, lengths, places, handles.data(), &type.handle_));
        return type;
    }
    Datatype Dup() const
    {
        Datatype type;
        FERRUM_CXX_CALL(MPI_Type_dup(handle_, &type.handle_));
        return type;
    }
    void Commit() { FERRUM_CXX_CALL(MPI_Type_commit(&handle_)); }
    void Free() { FERRUM_CXX_CALL(MPI_Type_free(&handle_)); }
    void Get_name(char *name, int &length) const { FERRUM_CXX_CALL(MPI_Type_get_name(handle_, name, &length)); }
    void Set_name(const char *name) { FERRUM_CXX_CALL(MPI_Type_set_name(handle_, name)); }

    static int Create_keyval(detail::Either<Copy_attr_function, MPI_Type_copy_attr_function> copy,
                             detail::Either<Delete_attr_function, MPI_Type_delete_attr_function> remove,
                             void *extra_state);
    static void Free_keyval(int &keyval) { FERRUM_CXX_CALL(MPI_Type_free_keyval(&keyval)); }
    void Set_attr(int keyval, const void *value)
    {
        FERRUM_CXX_CALL(MPI_Type_set_attr(handle_, keyval, const_cast<void *>(value)));
    }
    bool Get_attr(int keyval, void *value) const
    {
        int flag = 0;
        FERRUM_CXX_CALL(MPI_Type_get_attr(handle_, keyval, value, &flag));
        return flag != 0;
    }
    void Delete_attr(int keyval) { FERRUM_CXX_CALL(MPI_Type_delete_attr(handle_, keyval)); }
};

class FERRUM_CXX_OLD Op : public detail::Holder<MPI_Op> {
public:
    Op() : Holder(MPI_OP_NULL) {}
    Op(MPI_Op handle) : Holder(handle) {}
    /* An operation of the program; at most 32 functions in a program, more are MPI_ERR_NO_MEM. */
    void Init(User_function *function, bool commute);
    void Free() { FERRUM_CXX_CALL(MPI_Op_free(&handle_)); }
    bool Is_commutative() const
    {
        int commutes = 0;
        FERRUM_CXX_CALL(MPI_Op_commutative(handle_, &commutes));
        return commutes != 0;
    }
    void Reduce_local(const void *in, void *inout, int count, const Datatype &type) const
    {
        FERRUM_CXX_CALL(MPI_Reduce_local(in, inout, count, type, handle_));
    }
};

class FERRUM_CXX_OLD Info : public detail::Holder<MPI_Info> {
public:
    Info() : Holder(MPI_INFO_NULL) {}
    Info(MPI_Info handle) : Holder(handle) {}
    static Info Create()
    {
        Info info;
        FERRUM_CXX_CALL(MPI_Info_create(&info.handle_));
        return info;
    }
    Info Dup() const
    {
        Info info;
        FERRUM_CXX_CALL(MPI_Info_dup(handle_, &info.handle_));
        return info;
    }
    void Free() { FERRUM_CXX_CALL(MPI_Info_free(&handle_)); }
    void Set(const char *key, const char *value) { FERRUM_CXX_CALL(MPI_Info_set(handle_, key, value)); }
    void Delete(const char *key) { FERRUM_CXX_CALL(MPI_Info_delete(handle_, key)); }
    bool Get(const char *key, int length, char *value) const
    {
        int flag = 0;
        FERRUM_CXX_CALL(MPI_Info_get(handle_, key, length, value, &flag));
        return flag != 0;
    }
    bool Get_valuelen(const char *key, int &length) const
    {
        int flag = 0;
        FERRUM_CXX_CALL(MPI_Info_get_valuelen(handle_, key, &length, &flag));
        return flag != 0;
    }
    int Get_nkeys() const
    {
        int count = 0;
        FERRUM_CXX_CALL(MPI_Info_get_nkeys(handle_, &count));
        return count;
    }
    void Get_nthkey(int number, char *key) const { FERRUM_CXX_CALL(MPI_Info_get_nthkey(handle_, number, key)); }
};

} /* namespace MPI */
