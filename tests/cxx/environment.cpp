/* The environment: start and end, versions, names, clocks, error classes and codes of the program, memory, and what
 * stdio.h defines. */
#include "check.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

static const char *added(int code)
{
    static char text[MPI::MAX_ERROR_STRING];
    int length = -1;
    MPI::Get_error_string(code, text, length);
    check(length == static_cast<int>(strlen(text)));
    return text;
}

static void classes_and_codes()
{
    int error_class = MPI::Add_error_class(), code = MPI::Add_error_code(error_class), *last = 0;
    check(error_class > MPI::ERR_LASTCODE && code > MPI::ERR_LASTCODE && code != error_class);
    check(MPI::Get_error_class(code) == error_class && MPI::Get_error_class(error_class) == error_class);
    check(MPI::Get_error_class(MPI::ERR_RANK) == MPI::ERR_RANK && added(code)[0] == 0);
    MPI::Add_error_string(code, "no water");
    MPI::Add_error_string(error_class, "of pumps");
    check(strcmp(added(code), "no water") == 0 && strcmp(added(error_class), "of pumps") == 0);
    check(strlen(added(MPI::ERR_RANK)) > 0);
    check(MPI::COMM_WORLD.Get_attr(MPI::LASTUSEDCODE, &last) && *last >= code);
    MPI::Exception exception(code);
    check(exception.Get_error_code() == code && exception.Get_error_class() == error_class);
    check(strcmp(exception.Get_error_string(), "no water") == 0);
    MPI::COMM_WORLD.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
    throws(MPI::COMM_WORLD.Call_errhandler(code), error_class);
    MPI::COMM_WORLD.Set_errhandler(MPI::ERRORS_ARE_FATAL);
}

static void memory()
{
    MPI::Info info = MPI::Info::Create();
    info.Set("alignment", "64");
    double *numbers = static_cast<double *>(MPI::Alloc_mem(1000 * sizeof(double), info));
    check(numbers != 0);
    for (int i = 0; i < 1000; i++)
        numbers[i] = i;
    check(numbers[999] == 999);
    MPI::Free_mem(numbers);
    info.Free();
    check(info == MPI::INFO_NULL);
    MPI::Free_mem(MPI::Alloc_mem(1, MPI::INFO_NULL));
    MPI::COMM_SELF.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
    throws(MPI::Alloc_mem(-1, MPI::INFO_NULL), MPI::ERR_ARG);
    MPI::COMM_SELF.Set_errhandler(MPI::ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    int version = 0, subversion = -1, length = 0, *bound = 0, further = 5;
    char name[MPI::MAX_PROCESSOR_NAME];
    check(!MPI::Is_initialized() && !MPI::Is_finalized());
    MPI::Get_version(version, subversion);
    check(version == MPI_VERSION && subversion == MPI_SUBVERSION);
    if (argc > 1 && strcmp(argv[1], "threads") == 0) {
        check(MPI::Init_thread(MPI::THREAD_MULTIPLE) == MPI::THREAD_MULTIPLE);
    } else if (argc > 1) {
        check(MPI::Init_thread(argc, argv, MPI::THREAD_SERIALIZED) >= MPI::THREAD_SERIALIZED && argc == 2);
    } else {
        MPI::Init();
    }
    check(MPI::Is_initialized() && !MPI::Is_finalized() && MPI::Is_thread_main());
    check(MPI::Query_thread() >= (argc > 1 ? MPI::THREAD_SERIALIZED : MPI::THREAD_SINGLE));
    MPI::Get_processor_name(name, length);
    check(length > 0 && length == static_cast<int>(strlen(name)));
    double before = MPI::Wtime();
    check(MPI::Wtime() >= before && MPI::Wtick() > 0 && MPI::Wtick() < 1);
    check(MPI::COMM_WORLD.Get_attr(MPI::TAG_UB, &bound) && *bound >= 32767);
    MPI::Pcontrol(0);
    MPI::Pcontrol(17, "phase", 2.5, &further, 'c', 9L);
    check(further == 5);
    classes_and_codes();
    memory();
    /* The constants of stdio.h have their values, beside those of MPI. */
    check(MPI::SEEK_SET == MPI_SEEK_SET && MPI::SEEK_CUR == MPI_SEEK_CUR && MPI::SEEK_END == MPI_SEEK_END);
    FILE *file = tmpfile();
    check(file && fputs("12345", file) >= 0 && fseek(file, 1, SEEK_SET) == 0 && fgetc(file) == '2');
    check(fseek(file, 1, SEEK_CUR) == 0 && fgetc(file) == '4' && fseek(file, -1, SEEK_END) == 0 && fgetc(file) == '5');
    fclose(file);
    int result = finish();
    check(MPI::Is_finalized());
    return result || wrong;
}
