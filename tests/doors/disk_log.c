/* Log what a process does to the files below a folder, in order: `LD_PRELOAD` for tests/doors/power_cuts.py.
 *
 * DISK_LOG names the log, DISK_ROOT the folder. A record is a header, one or two paths, and the data written.
 * Calls that copy inside the kernel are refused, so that their callers write instead.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

struct header {
    int64_t inode, offset, length;
    int32_t path, other;
    char what;
    char padding[7];
};

static int log_file = -1;
static char root[PATH_MAX];
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void begin(void) {
    const char *name = getenv("DISK_LOG"), *folder = getenv("DISK_ROOT");
    if (name == NULL || folder == NULL) return;
    int opened = syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_APPEND, 0600);
    log_file = fcntl(opened, F_DUPFD_CLOEXEC, 900);
    close(opened);
    snprintf(root, sizeof root, "%s/", folder);
}

static void *real(const char *name) {
    return dlsym(RTLD_NEXT, name);
}

static int inside(const char *path) {
    return log_file >= 0 && strncmp(path, root, strlen(root)) == 0;
}

/* The path of an open file; whether it lies in the folder. */
static int path_of(int file, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, PATH_MAX - 2);
    if (length <= 0) return 0;
    path[length] = 0;
    char with_slash[PATH_MAX + 1];
    snprintf(with_slash, sizeof with_slash, "%s/", path);
    return inside(with_slash);
}

/* The absolute form of a path as it is given to a system call; whether it lies in the folder. */
static int absolute(int folder, const char *given, char *path) {
    char base[PATH_MAX] = "";
    if (given[0] != '/') {
        if (folder == AT_FDCWD) {
            if (getcwd(base, sizeof base) == NULL) return 0;
        } else {
            path_of(folder, base);
        }
        strncat(base, "/", sizeof base - strlen(base) - 1);
    }
    snprintf(path, PATH_MAX, "%.*s%s", PATH_MAX / 2, base, given);
    return inside(path);
}

static int64_t inode_at(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0 ? (int64_t)status.st_ino : -1;
}

static int64_t inode_of(int file) {
    struct stat status;
    return fstat(file, &status) == 0 ? (int64_t)status.st_ino : -1;
}

static void record(char what, int64_t inode, const char *path, const char *other, int64_t offset, const void *data,
                   int64_t length) {
    struct header head = {inode, offset, length, strlen(path), strlen(other), what, {0}};
    struct iovec parts[] = {{&head, sizeof head},
                            {(void *)path, strlen(path)},
                            {(void *)other, strlen(other)},
                            {(void *)data, data == NULL ? 0 : (size_t)length}};
    int before = errno;
    if (syscall(SYS_writev, log_file, parts, 4) < 0) abort();
    errno = before;
}

static int opened(const char *name, int folder, const char *given, int flags, mode_t mode) {
    char path[PATH_MAX];
    int (*call)(int, const char *, int, mode_t) = real(name);
    if (!(flags & (O_CREAT | O_TRUNC)) || !absolute(folder, given, path)) return call(folder, given, flags, mode);
    pthread_mutex_lock(&turn);
    int64_t before = inode_at(path);
    int file = call(folder, given, flags, mode);
    if (file >= 0 && before < 0) record('C', inode_of(file), path, "", 0, NULL, 0);
    if (file >= 0 && before >= 0 && flags & O_TRUNC) record('T', before, path, "", 0, NULL, 0);
    pthread_mutex_unlock(&turn);
    return file;
}

static mode_t mode_in(int flags, va_list more) {
    return flags & O_CREAT ? va_arg(more, mode_t) : 0;
}

#define OPEN(name, real_name)                                                                                          \
    int name(const char *path, int flags, ...) {                                                                       \
        va_list more;                                                                                                  \
        va_start(more, flags);                                                                                         \
        mode_t mode = mode_in(flags, more);                                                                            \
        va_end(more);                                                                                                  \
        return opened(real_name, AT_FDCWD, path, flags, mode);                                                         \
    }
#define OPENAT(name)                                                                                                   \
    int name(int folder, const char *path, int flags, ...) {                                                           \
        va_list more;                                                                                                  \
        va_start(more, flags);                                                                                         \
        mode_t mode = mode_in(flags, more);                                                                            \
        va_end(more);                                                                                                  \
        return opened(#name, folder, path, flags, mode);                                                               \
    }
OPEN(open, "openat")
OPEN(open64, "openat64")
OPENAT(openat)
OPENAT(openat64)

static ssize_t written(int file, const struct iovec *parts, int count, off_t offset) {
    char path[PATH_MAX];
    if (log_file < 0 || file == log_file || !path_of(file, path))
        return offset < 0 ? syscall(SYS_writev, file, parts, count)
                          : syscall(SYS_pwritev, file, parts, count, offset, 0);
    pthread_mutex_lock(&turn);
    ssize_t done = offset < 0 ? syscall(SYS_writev, file, parts, count)
                              : syscall(SYS_pwritev, file, parts, count, offset, 0);
    if (done > 0) {
        int64_t at = offset < 0 ? lseek(file, 0, SEEK_CUR) - done : offset;
        ssize_t left = done;
        for (int i = 0; i < count && left > 0; i++) {
            int64_t length = left < (ssize_t)parts[i].iov_len ? left : (ssize_t)parts[i].iov_len;
            record('W', inode_of(file), path, "", at, parts[i].iov_base, length);
            at += length, left -= length;
        }
    }
    pthread_mutex_unlock(&turn);
    return done;
}

ssize_t write(int file, const void *data, size_t length) {
    struct iovec part = {(void *)data, length};
    return written(file, &part, 1, -1);
}
ssize_t writev(int file, const struct iovec *parts, int count) { return written(file, parts, count, -1); }
ssize_t pwrite(int file, const void *data, size_t length, off_t offset) {
    struct iovec part = {(void *)data, length};
    return written(file, &part, 1, offset);
}
ssize_t pwrite64(int file, const void *data, size_t length, off64_t offset) {
    return pwrite(file, data, length, offset);
}

ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t length, unsigned flags) {
    return errno = ENOSYS, -1;
}
ssize_t sendfile(int out, int in, off_t *offset, size_t length) { return errno = ENOSYS, -1; }
ssize_t sendfile64(int out, int in, off64_t *offset, size_t length) { return errno = ENOSYS, -1; }

int ftruncate(int file, off_t length) {
    char path[PATH_MAX];
    int ours = path_of(file, path);
    pthread_mutex_lock(&turn);
    int result = syscall(SYS_ftruncate, file, length);
    if (result == 0 && ours) record('T', inode_of(file), path, "", length, NULL, 0);
    pthread_mutex_unlock(&turn);
    return result;
}
int ftruncate64(int file, off64_t length) { return ftruncate(file, length); }

/* One system call on one or two paths, recorded where it succeeds. */
static int named(char what, int folder, const char *given, int other_folder, const char *other_given, long number,
                 long last, int arguments) {
    char path[PATH_MAX], other[PATH_MAX] = "";
    int ours = absolute(folder, given, path);
    if (other_given != NULL) ours |= absolute(other_folder, other_given, other);
    pthread_mutex_lock(&turn);
    long result = arguments == 5 ? syscall(number, folder, given, other_folder, other_given, last)
                                 : syscall(number, folder, given, last);
    if (result == 0 && ours) record(what, inode_at(path), path, other, 0, NULL, 0);
    pthread_mutex_unlock(&turn);
    return result;
}

int mkdirat(int folder, const char *path, mode_t mode) {
    return named('M', folder, path, 0, NULL, SYS_mkdirat, mode, 3);
}
int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }
int unlinkat(int folder, const char *path, int flags) {
    return named('U', folder, path, 0, NULL, SYS_unlinkat, flags, 3);
}
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }
int renameat2(int folder, const char *path, int other_folder, const char *other, unsigned flags) {
    return named(flags & 2 ? 'X' : 'R', folder, path, other_folder, other, SYS_renameat2, flags, 5);
}
int renameat(int folder, const char *path, int other_folder, const char *other) {
    return renameat2(folder, path, other_folder, other, 0);
}
int rename(const char *path, const char *other) { return renameat2(AT_FDCWD, path, AT_FDCWD, other, 0); }

static int synced(int file, long number) {
    char path[PATH_MAX];
    int ours = path_of(file, path);
    pthread_mutex_lock(&turn);
    int result = syscall(number, file);
    if (result == 0 && ours) record('S', inode_of(file), path, "", 0, NULL, 0);
    pthread_mutex_unlock(&turn);
    return result;
}
int fsync(int file) { return synced(file, SYS_fsync); }
int fdatasync(int file) { return synced(file, SYS_fdatasync); }
