/* A disk of which others take all that is left while a file grows beyond MOST bytes. */
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

int fstatvfs(int file, struct statvfs *disk) {
    struct stat now;
    if (fstat(file, &now) != 0) return -1;
    const int is_taken = now.st_size > atol(getenv("MOST"));
    *disk = (struct statvfs){.f_frsize = 1, .f_blocks = 1 << 30, .f_bavail = is_taken ? 0 : 1 << 30};
    return 0;
}
