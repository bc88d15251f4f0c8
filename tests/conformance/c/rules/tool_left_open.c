/* A program that never finalises the tool interface, with sessions and handles open, ends normally. */
#include "tool/tool.h"

int main(int argc, char **argv)
{
    MPI_T_pvar_session session;
    tool_begin();
    tool_begin();
    begin(&argc, &argv);
    ok(MPI_T_pvar_session_create(&session));
    watch(session, "MPI_T_UMQ_LENGTH", MPI_T_PVAR_CLASS_LEVEL, MPI_COMM_WORLD);
    return finish();
}
