/* The tool interface as it was first drafted (MPIT, draft of January 27th, 2011), over MPI_T: for programs and tools
 * that were written to that draft. Nothing but this header and mpi.h is needed; no library gets another symbol.
 *
 * Differences between the draft and MPI_T:
 * - The draft has signed types only: an MPI_UNSIGNED appears as MPIT_INT, an MPI_UNSIGNED_LONG_LONG as MPIT_LONG_LONG.
 *   Values beyond the signed type's range look negative.
 * - Names of performance variables are unique in the draft: those of watermarks end in "_high" and "_low".
 * - Sizes and generic variables, which the draft does not have, appear as MPIT_PERFVAR_CLASS_RESOURCE_LEVEL.
 * - The number of elements is a property of the variable: if it depends on the object that the variable is bound to, it
 *   is that of MPI_COMM_WORLD; 1 while that cannot be determined.
 * - Where the draft and MPI_T have different codes for the same mistake, the codes are equal; a NULL address
 *   is MPI_T_ERR_INVALID, as in MPI_T.
 * - Each MPIT call makes MPI_T calls, each PMPIT call the same PMPI_T calls: a profiling library that stands before
 *   MPI_T sees the MPIT calls too. */
#ifndef MPIT_DRAFT_H
#define MPIT_DRAFT_H

#include <mpi.h>
#include <string.h>

#define MPIT_SUCCESS                                MPI_SUCCESS
#define MPIT_ERR_MEMORY                             MPI_T_ERR_MEMORY
#define MPIT_ERR_NOTINITIALIZED                     MPI_T_ERR_NOT_INITIALIZED
#define MPIT_ERR_CANTINIT                           MPI_T_ERR_CANNOT_INIT
#define MPIT_ERR_INVALIDITEM                        MPI_T_ERR_INVALID_ITEM
#define MPIT_ERR_INVALIDINDEX                       MPI_T_ERR_INVALID_INDEX
#define MPIT_ERR_INVALIDHANDLE                      MPI_T_ERR_INVALID_HANDLE
#define MPIT_ERR_OUTOFHANDLES                       MPI_T_ERR_OUT_OF_HANDLES
#define MPIT_ERR_OUTOFSESSIONS                      MPI_T_ERR_OUT_OF_SESSIONS
#define MPIT_ERR_INVALIDSESSION                     MPI_T_ERR_INVALID_SESSION
#define MPIT_ERR_SETNOTNOW                          MPI_T_ERR_CVAR_SET_NOT_NOW
#define MPIT_ERR_SETNEVER                           MPI_T_ERR_CVAR_SET_NEVER
#define MPIT_ERR_NOSTARTSTOP                        MPI_T_ERR_PVAR_NO_STARTSTOP
#define MPIT_ERR_NOWRITE                            MPI_T_ERR_PVAR_NO_WRITE
#define MPIT_ERR_PERFVAR_WRITE                      MPI_T_ERR_PVAR_NO_WRITE /* the draft has both names */
/* The draft's finer codes, which are those of MPI_T for the same mistakes: MPI_Error_string has their texts. */
#define MPIT_ERR_PREDEFINED                         MPI_T_ERR_INVALID
#define MPIT_ERR_INVALIDDATATYPE                    MPI_T_ERR_INVALID_HANDLE
#define MPIT_ERR_INVALIDVAR                         MPI_T_ERR_INVALID_INDEX
#define MPIT_ERR_INVALIDCATEGORY                    MPI_T_ERR_INVALID_INDEX

#define MPIT_VERBOSITY_USER_BASIC                   MPI_T_VERBOSITY_USER_BASIC
#define MPIT_VERBOSITY_USER_DETAILED                MPI_T_VERBOSITY_USER_DETAIL
#define MPIT_VERBOSITY_USER_VERBOSE                 MPI_T_VERBOSITY_USER_ALL
#define MPIT_VERBOSITY_TUNER_BASIC                  MPI_T_VERBOSITY_TUNER_BASIC
#define MPIT_VERBOSITY_TUNER_DETAILED               MPI_T_VERBOSITY_TUNER_DETAIL
#define MPIT_VERBOSITY_TUNER_VERBOSE                MPI_T_VERBOSITY_TUNER_ALL
#define MPIT_VERBOSITY_MPIDEV_BASIC                 MPI_T_VERBOSITY_MPIDEV_BASIC
#define MPIT_VERBOSITY_MPIDEV_DETAILED              MPI_T_VERBOSITY_MPIDEV_DETAIL
#define MPIT_VERBOSITY_MPIDEV_VERBOSE               MPI_T_VERBOSITY_MPIDEV_ALL

#define MPIT_BIND_GLOBAL                            MPI_T_BIND_NO_OBJECT
#define MPIT_BIND_MPI_COMMUNICATOR                  MPI_T_BIND_MPI_COMM
#define MPIT_BIND_MPI_DATATYPE                      MPI_T_BIND_MPI_DATATYPE
#define MPIT_BIND_MPI_ERRORHANDLER                  MPI_T_BIND_MPI_ERRHANDLER
#define MPIT_BIND_MPI_FILE                          MPI_T_BIND_MPI_FILE
#define MPIT_BIND_MPI_GROUP                         MPI_T_BIND_MPI_GROUP
#define MPIT_BIND_MPI_OPERATOR                      MPI_T_BIND_MPI_OP
#define MPIT_BIND_MPI_REQUEST                       MPI_T_BIND_MPI_REQUEST
#define MPIT_BIND_MPI_WINDOW                        MPI_T_BIND_MPI_WIN

#define MPIT_SCOPE_READONLY                         MPI_T_SCOPE_READONLY
#define MPIT_SCOPE_LOCAL                            MPI_T_SCOPE_LOCAL
#define MPIT_SCOPE_GLOBAL                           MPI_T_SCOPE_ALL

#define MPIT_PERFVAR_CLASS_STATE                    MPI_T_PVAR_CLASS_STATE
#define MPIT_PERFVAR_CLASS_RESOURCE_LEVEL           MPI_T_PVAR_CLASS_LEVEL
#define MPIT_PERFVAR_CLASS_RESOURCE_PERCENTAGE      MPI_T_PVAR_CLASS_PERCENTAGE
#define MPIT_PERFVAR_CLASS_RESOURCE_HIGHWATERMARK   MPI_T_PVAR_CLASS_HIGHWATERMARK
#define MPIT_PERFVAR_CLASS_RESOURCE_LOWWATERMARK    MPI_T_PVAR_CLASS_LOWWATERMARK
#define MPIT_PERFVAR_CLASS_EVENT_COUNTER            MPI_T_PVAR_CLASS_COUNTER
#define MPIT_PERFVAR_CLASS_EVENT_AGGREGATE          MPI_T_PVAR_CLASS_AGGREGATE
#define MPIT_PERFVAR_CLASS_EVENT_TIMER              MPI_T_PVAR_CLASS_TIMER

#define MPIT_DATATYPECLASS_PREDEFINED               1
#define MPIT_DATATYPECLASS_ENUMERATION              2

typedef MPI_T_cvar_handle MPIT_Controlvar_handle;
typedef MPI_T_pvar_handle MPIT_Perfvar_handle;
typedef MPI_T_pvar_session MPIT_Perfvar_session;
typedef struct { int scope; } MPIT_Controlvar_attributes;
typedef struct { int readonly, continuous; } MPIT_Perfvar_attributes;
/* A predefined datatype is one of the small words below, an enumeration is the handle of MPI_T's. */
typedef struct MPIT_Datatype_word *MPIT_Datatype;

#define MPIT_CONTROLVAR_HANDLE_NULL                 MPI_T_CVAR_HANDLE_NULL
#define MPIT_PERFVAR_HANDLE_NULL                    MPI_T_PVAR_HANDLE_NULL
#define MPIT_PERFVAR_ALL_HANDLES                    MPI_T_PVAR_ALL_HANDLES
#define MPIT_PERFVAR_SESSION_NULL                   MPI_T_PVAR_SESSION_NULL

#define MPIT_LOGICAL                                ((MPIT_Datatype)1)
#define MPIT_BYTE                                   ((MPIT_Datatype)2)
#define MPIT_SHORT                                  ((MPIT_Datatype)3)
#define MPIT_INT                                    ((MPIT_Datatype)4)
#define MPIT_LONG                                   ((MPIT_Datatype)5)
#define MPIT_LONG_LONG                              ((MPIT_Datatype)6)
#define MPIT_CHAR                                   ((MPIT_Datatype)7)
#define MPIT_FLOAT                                  ((MPIT_Datatype)8)
#define MPIT_DOUBLE                                 ((MPIT_Datatype)9)

/* C89 has no inline functions; GCC and the compilers that follow it have them by this name. */
#define MPIT_FUNCTION  static __inline__

#define MPIT_CALL(name)  MPI_T_##name
#define MPIT_NAME(name)  MPIT_##name
#include "mpit_draft_calls.h"
#undef MPIT_CALL
#undef MPIT_NAME
#define MPIT_CALL(name)  PMPI_T_##name
#define MPIT_NAME(name)  PMPIT_##name
#include "mpit_draft_calls.h"
#undef MPIT_CALL
#undef MPIT_NAME
#undef MPIT_FUNCTION

#endif
