/* The functions of mpit_draft.h, which includes this once for the MPIT names and once for the PMPIT names. */

/* The type of a variable in the draft's terms. */
MPIT_FUNCTION MPIT_Datatype MPIT_NAME(type_of_)(MPI_Datatype datatype, MPI_T_enum names)
{
    if (names != MPI_T_ENUM_NULL) return (MPIT_Datatype)names;
    if (datatype == MPI_CHAR) return MPIT_CHAR;
    if (datatype == MPI_DOUBLE) return MPIT_DOUBLE;
    if (datatype == MPI_UNSIGNED_LONG_LONG || datatype == MPI_COUNT) return MPIT_LONG_LONG;
    if (datatype == MPI_UNSIGNED_LONG) return MPIT_LONG;
    return MPIT_INT;
}

/* A text with an ending, by the rules of strings; the lengths count the null character. */
MPIT_FUNCTION void MPIT_NAME(put_)(const char *text, const char *ending, char *to, int *length)
{
    size_t first = strlen(text), second = strlen(ending), room = length && to ? (size_t)*length : 0, used;
    if (room > 0) {
        used = first < room - 1 ? first : room - 1;
        memcpy(to, text, used);
        second = second < room - 1 - used ? second : room - 1 - used;
        memcpy(to + used, ending, second);
        to[used + second] = 0;
    }
    if (length) *length = (int)(first + strlen(ending)) + 1;
}

MPIT_FUNCTION int MPIT_NAME(Init)(void)
{
    int provided;
    return MPIT_CALL(init_thread)(MPI_THREAD_MULTIPLE, &provided);
}

MPIT_FUNCTION int MPIT_NAME(Finalize)(void)
{
    return MPIT_CALL(finalize)();
}

MPIT_FUNCTION int MPIT_NAME(Datatype_get_class)(MPIT_Datatype datatype, int *datatypeclass)
{
    int number, predefined = datatype >= MPIT_LOGICAL && datatype <= MPIT_DOUBLE;
    if (!datatypeclass) return MPI_T_ERR_INVALID;
    if (!predefined) {
        int code = MPIT_CALL(enum_get_info)((MPI_T_enum)datatype, &number, NULL, NULL);
        if (code != MPI_SUCCESS) return code == MPI_T_ERR_NOT_INITIALIZED ? code : MPIT_ERR_INVALIDDATATYPE;
    }
    *datatypeclass = predefined ? MPIT_DATATYPECLASS_PREDEFINED : MPIT_DATATYPECLASS_ENUMERATION;
    return MPIT_SUCCESS;
}

MPIT_FUNCTION int MPIT_NAME(Datatype_get_size)(MPIT_Datatype datatype, int *size)
{
    static const unsigned char sizes[] = {0, sizeof(int), 1, sizeof(short), sizeof(int), sizeof(long),
                                          sizeof(MPI_Count), 1, sizeof(float), sizeof(double)};
    int kind, code = MPIT_NAME(Datatype_get_class)(datatype, &kind);
    if (code != MPIT_SUCCESS) return code;
    if (!size) return MPI_T_ERR_INVALID;
    *size = kind == MPIT_DATATYPECLASS_PREDEFINED ? sizes[(size_t)datatype] : (int)sizeof(int);
    return MPIT_SUCCESS;
}

/* Only enumerations pass. */
MPIT_FUNCTION int MPIT_NAME(enumeration_)(MPIT_Datatype datatype)
{
    int kind, code = MPIT_NAME(Datatype_get_class)(datatype, &kind);
    return code != MPIT_SUCCESS || kind == MPIT_DATATYPECLASS_ENUMERATION ? code : MPIT_ERR_PREDEFINED;
}

MPIT_FUNCTION int MPIT_NAME(Datatype_enum_get_info)(MPIT_Datatype datatype, int *num, char *name, int *name_len)
{
    int code = MPIT_NAME(enumeration_)(datatype);
    return code != MPIT_SUCCESS ? code : MPIT_CALL(enum_get_info)((MPI_T_enum)datatype, num, name, name_len);
}

/* The draft's item is the value that a variable has. */
MPIT_FUNCTION int MPIT_NAME(Datatype_enum_get_item)(MPIT_Datatype datatype, int item, char *name, int *name_len)
{
    int i, number, value, code = MPIT_NAME(Datatype_enum_get_info)(datatype, &number, NULL, NULL);
    if (code != MPIT_SUCCESS) return code;
    for (i = 0; i < number; i++) {
        code = MPIT_CALL(enum_get_item)((MPI_T_enum)datatype, i, &value, NULL, NULL);
        if (code != MPIT_SUCCESS) return code;
        if (value == item) return MPIT_CALL(enum_get_item)((MPI_T_enum)datatype, i, &value, name, name_len);
    }
    return MPIT_ERR_INVALIDITEM;
}

MPIT_FUNCTION int MPIT_NAME(Controlvar_get_num)(int *num)
{
    return MPIT_CALL(cvar_get_num)(num);
}

MPIT_FUNCTION int MPIT_NAME(Controlvar_get_info)(int index, char *name, int *name_len, int *verbosity,
                                                 MPIT_Datatype *datatype, int *count, char *desc, int *desc_len,
                                                 int *bind, MPIT_Controlvar_attributes *attributes)
{
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_T_enum names = MPI_T_ENUM_NULL;
    MPI_T_cvar_handle handle;
    MPI_Comm world = MPI_COMM_WORLD;
    int scope = 0, elements = 1;
    int code = MPIT_CALL(cvar_get_info)(index, name, name_len, verbosity, &type, &names, desc, desc_len, bind, &scope);
    if (code != MPI_SUCCESS) return code;
    if (datatype) *datatype = MPIT_NAME(type_of_)(type, names);
    if (count) {
        if (MPIT_CALL(cvar_handle_alloc)(index, &world, &handle, &elements) == MPI_SUCCESS)
            MPIT_CALL(cvar_handle_free)(&handle);
        *count = elements;
    }
    if (attributes) attributes->scope = scope;
    return MPIT_SUCCESS;
}

MPIT_FUNCTION int MPIT_NAME(Controlvar_attr_get_scope)(MPIT_Controlvar_attributes attributes, int *scope)
{
    if (!scope) return MPI_T_ERR_INVALID;
    switch (attributes.scope) {
    case MPI_T_SCOPE_CONSTANT:
    case MPI_T_SCOPE_READONLY: *scope = MPIT_SCOPE_READONLY; break;
    case MPI_T_SCOPE_LOCAL: *scope = MPIT_SCOPE_LOCAL; break;
    default: *scope = MPIT_SCOPE_GLOBAL;
    }
    return MPIT_SUCCESS;
}

MPIT_FUNCTION int MPIT_NAME(Controlvar_handle_allocate)(int index, void *objhandle, MPIT_Controlvar_handle *handle)
{
    int count;
    return MPIT_CALL(cvar_handle_alloc)(index, objhandle, handle, &count);
}

MPIT_FUNCTION int MPIT_NAME(Controlvar_handle_free)(MPIT_Controlvar_handle *handle)
{
    return MPIT_CALL(cvar_handle_free)(handle);
}

MPIT_FUNCTION int MPIT_NAME(Controlvar_read)(MPIT_Controlvar_handle handle, void *buf)
{
    return MPIT_CALL(cvar_read)(handle, buf);
}

MPIT_FUNCTION int MPIT_NAME(Controlvar_write)(MPIT_Controlvar_handle handle, void *buf)
{
    return MPIT_CALL(cvar_write)(handle, buf);
}

MPIT_FUNCTION int MPIT_NAME(Perfvar_get_num)(int *num)
{
    return MPIT_CALL(pvar_get_num)(num);
}

MPIT_FUNCTION int MPIT_NAME(Perfvar_get_info)(int index, char *name, int *name_len, int *verbosity, int *varclass,
                                              MPIT_Datatype *datatype, int *count, char *desc, int *desc_len, int *bind,
                                              MPIT_Perfvar_attributes *attributes)
{
    char own[512];
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_T_enum names = MPI_T_ENUM_NULL;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    MPI_Comm world = MPI_COMM_WORLD;
    const char *mark = "";
    int own_len = (int)sizeof own, kind = 0, readonly = 0, continuous = 0, elements = 1, of;
    int code = MPIT_CALL(pvar_get_info)(index, own, &own_len, verbosity, &kind, &type, &names, desc, desc_len, &of,
                                        &readonly, &continuous, NULL);
    if (code != MPI_SUCCESS) return code;
    if (kind == MPI_T_PVAR_CLASS_HIGHWATERMARK) mark = "_high";
    if (kind == MPI_T_PVAR_CLASS_LOWWATERMARK) mark = "_low";
    MPIT_NAME(put_)(own, mark, name, name_len);
    if (varclass)
        *varclass = kind == MPI_T_PVAR_CLASS_SIZE || kind == MPI_T_PVAR_CLASS_GENERIC ? MPI_T_PVAR_CLASS_LEVEL : kind;
    if (datatype) *datatype = MPIT_NAME(type_of_)(type, names);
    if (bind) *bind = of;
    if (count) {
        if (MPIT_CALL(pvar_session_create)(&session) == MPI_SUCCESS) {
            if (of == MPI_T_BIND_NO_OBJECT || of == MPI_T_BIND_MPI_COMM)
                MPIT_CALL(pvar_handle_alloc)(session, index, &world, &handle, &elements);
            MPIT_CALL(pvar_session_free)(&session);
        }
        *count = elements;
    }
    if (attributes) attributes->readonly = readonly, attributes->continuous = continuous;
    return MPIT_SUCCESS;
}

MPIT_FUNCTION int MPIT_NAME(Perfvar_attr_get_readonly)(MPIT_Perfvar_attributes attributes, int *readonly)
{
    if (!readonly) return MPI_T_ERR_INVALID;
    *readonly = attributes.readonly;
    return MPIT_SUCCESS;
}

MPIT_FUNCTION int MPIT_NAME(Perfvar_attr_get_continuous)(MPIT_Perfvar_attributes attributes, int *continuous)
{
    if (!continuous) return MPI_T_ERR_INVALID;
    *continuous = attributes.continuous;
    return MPIT_SUCCESS;
}

MPIT_FUNCTION int MPIT_NAME(Perfvar_session_create)(MPIT_Perfvar_session *session)
{
    return MPIT_CALL(pvar_session_create)(session);
}

MPIT_FUNCTION int MPIT_NAME(Perfvar_session_free)(MPIT_Perfvar_session *session)
{
    return MPIT_CALL(pvar_session_free)(session);
}

MPIT_FUNCTION int MPIT_NAME(Perfvar_handle_allocate)(MPIT_Perfvar_session session, int index, void *objhandle,
                                                     MPIT_Perfvar_handle *handle)
{
    int count;
    return MPIT_CALL(pvar_handle_alloc)(session, index, objhandle, handle, &count);
}

MPIT_FUNCTION int MPIT_NAME(Perfvar_handle_free)(MPIT_Perfvar_session session, MPIT_Perfvar_handle *handle)
{
    return MPIT_CALL(pvar_handle_free)(session, handle);
}

MPIT_FUNCTION int MPIT_NAME(Perfvar_start)(MPIT_Perfvar_session session, MPIT_Perfvar_handle handle)
{
    return MPIT_CALL(pvar_start)(session, handle);
}

MPIT_FUNCTION int MPIT_NAME(Perfvar_stop)(MPIT_Perfvar_session session, MPIT_Perfvar_handle handle)
{
    return MPIT_CALL(pvar_stop)(session, handle);
}

MPIT_FUNCTION int MPIT_NAME(Perfvar_read)(MPIT_Perfvar_session session, MPIT_Perfvar_handle handle, void *buf)
{
    return MPIT_CALL(pvar_read)(session, handle, buf);
}

MPIT_FUNCTION int MPIT_NAME(Perfvar_write)(MPIT_Perfvar_session session, MPIT_Perfvar_handle handle, void *buf)
{
    return MPIT_CALL(pvar_write)(session, handle, buf);
}

MPIT_FUNCTION int MPIT_NAME(Perfvar_reset)(MPIT_Perfvar_session session, MPIT_Perfvar_handle handle)
{
    return MPIT_CALL(pvar_reset)(session, handle);
}

/* Where the variable cannot be reset, its value is read all the same. */
MPIT_FUNCTION int MPIT_NAME(Perfvar_readreset)(MPIT_Perfvar_session session, MPIT_Perfvar_handle handle, void *buf)
{
    int code = MPIT_CALL(pvar_readreset)(session, handle, buf);
    if (code != MPI_T_ERR_PVAR_NO_ATOMIC) return code;
    code = MPIT_CALL(pvar_read)(session, handle, buf);
    return code == MPI_SUCCESS ? MPIT_ERR_PERFVAR_WRITE : code;
}

MPIT_FUNCTION int MPIT_NAME(Category_get_num)(int *num)
{
    return MPIT_CALL(category_get_num)(num);
}

MPIT_FUNCTION int MPIT_NAME(Category_get_info)(int index, char *name, int *name_len, char *desc, int *desc_len,
                                               int *num_controlvars, int *num_perfvars, int *num_categories)
{
    return MPIT_CALL(category_get_info)(index, name, name_len, desc, desc_len, num_controlvars, num_perfvars,
                                        num_categories);
}

MPIT_FUNCTION int MPIT_NAME(Category_get_controlvars)(int cat_index, int len, int indices[])
{
    return MPIT_CALL(category_get_cvars)(cat_index, len, indices);
}

MPIT_FUNCTION int MPIT_NAME(Category_get_perfvars)(int cat_index, int len, int indices[])
{
    return MPIT_CALL(category_get_pvars)(cat_index, len, indices);
}

MPIT_FUNCTION int MPIT_NAME(Category_get_categories)(int cat_index, int len, int indices[])
{
    return MPIT_CALL(category_get_categories)(cat_index, len, indices);
}
