/* A write to a read-only file system is MPI_ERR_READ_ONLY. The program mounts one where that is permitted; otherwise
 * it searches for a mounted one. */
#define _GNU_SOURCE
#include "file/file.h"
#include <mntent.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>

static int mounted(const char *folder)
{
    if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
        return 0;
    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
    return mount("none", folder, "tmpfs", MS_RDONLY, NULL) == 0;
}

/* A folder of a file system that is mounted read-only, for a user who otherwise has write permission there. */
static int found(char *folder)
{
    struct statvfs facts;
    struct mntent *entry;
    FILE *table = setmntent("/proc/self/mounts", "r");
    while (table && (entry = getmntent(table))) {
        if (statvfs(entry->mnt_dir, &facts) == 0 && facts.f_flag & ST_RDONLY && access(entry->mnt_dir, W_OK) != 0 &&
            errno == EROFS && strlen(entry->mnt_dir) < NAME) {
            strcpy(folder, entry->mnt_dir);
            return 1;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    char folder[NAME], own[NAME], name[NAME + 8];
    MPI_File file;
    begin(&argc, &argv);
    name_of(own, "read-only");
    strcpy(folder, own);
    check_equal(mkdir(own, 0755), 0);
    if (mounted(folder) || found(folder)) {
        snprintf(name, sizeof name, "%s/file", folder);
        int code = MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
        check_class(code, MPI_ERR_READ_ONLY);
        check(has(code, "EROFS"));
    } else {
        printf("skipped: nothing is mounted read-only, and mounting is not permitted\n");
    }
    umount(own);
    check_equal(rmdir(own), 0);
    return finish();
}
