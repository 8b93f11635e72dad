/* Writes down what a process does to the files of one directory, in the order in which it does it.
 *
 * To be preloaded. The environment names the directory (RECORDED_DIRECTORY, absolute, its real path)
 * and the file that gets the records (RECORD). The calls themselves are made as system calls: so
 * nothing has to be looked up, and the calls of the C library do not come here a second time. One
 * lock is held over each call and its record: their order in the file is that of the calls.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* The numbers stand in the file: recording.py knows them, too. */
enum {
    OPENED = 1,   /* descriptor, whether it made the file; its name */
    WRITTEN = 2,  /* descriptor, offset; the bytes */
    CUT = 3,      /* descriptor, new length */
    SYNCED = 4,   /* descriptor */
    CLOSED = 5,   /* descriptor */
    UNLINKED = 6, /* a name */
    LINKED = 7,   /* the old name, NUL, the new name */
    RENAMED = 8,  /* the same */
    BEYOND = 9,   /* a call that changes a file in a way that is not recorded; its name */
};

struct record {
    uint32_t kind;
    int32_t descriptor;
    int64_t number;
    uint64_t length; /* of what follows */
};

#define MOST 65536

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile char followed[MOST]; /* descriptors of files in the directory, and of itself */
static char directory[PATH_MAX];
static size_t directory_length;
static int record_file = -1;

__attribute__((constructor)) static void begin(void)
{
    const char *where = getenv("RECORDED_DIRECTORY"), *record = getenv("RECORD");
    if (!where || !record || strlen(where) >= sizeof directory)
        return;
    record_file = (int)syscall(
        SYS_openat, AT_FDCWD, record, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (record_file < 0)
        abort();
    strcpy(directory, where);
    directory_length = strlen(where);
}

static void put(uint32_t kind, int descriptor, int64_t number, const void *bytes, size_t length)
{
    struct record head = {kind, descriptor, number, length};
    struct iovec parts[2] = {{&head, sizeof head}, {(void *)bytes, length}};
    int before = errno;
    if (syscall(SYS_writev, record_file, parts, 2) != (long)(sizeof head + length))
        abort(); /* a record with a hole in it would be worse than none */
    errno = before;
}

static int is_inside(const char *path)
{
    return record_file >= 0 && path && strncmp(path, directory, directory_length) == 0 &&
           (path[directory_length] == '/' || path[directory_length] == 0);
}

static int is_followed(int descriptor)
{
    return descriptor >= 0 && descriptor < MOST && followed[descriptor];
}

static int open_it(int at, const char *path, int flags, mode_t mode)
{
    if (!is_inside(path))
        return (int)syscall(SYS_openat, at, path, flags, mode);
    pthread_mutex_lock(&lock);
    int made = (flags & O_CREAT) && syscall(SYS_faccessat, AT_FDCWD, path, F_OK) != 0;
    int descriptor = (int)syscall(SYS_openat, at, path, flags, mode);
    if (descriptor >= MOST)
        abort();
    if (descriptor >= 0) {
        followed[descriptor] = 1;
        put(OPENED, descriptor, made, path, strlen(path));
        if (flags & O_TRUNC)
            put(CUT, descriptor, 0, 0, 0);
    }
    pthread_mutex_unlock(&lock);
    return descriptor;
}

#define MODE(flags)                                   \
    mode_t mode = 0;                                  \
    if ((flags) & (O_CREAT | __O_TMPFILE)) {          \
        va_list more;                                 \
        va_start(more, flags);                        \
        mode = va_arg(more, mode_t);                  \
        va_end(more);                                 \
    }

int open(const char *path, int flags, ...)
{
    MODE(flags)
    return open_it(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    MODE(flags)
    return open_it(AT_FDCWD, path, flags, mode);
}

int openat(int at, const char *path, int flags, ...)
{
    MODE(flags)
    return open_it(at, path, flags, mode);
}

int openat64(int at, const char *path, int flags, ...)
{
    MODE(flags)
    return open_it(at, path, flags, mode);
}

int __open_2(const char *path, int flags) { return open_it(AT_FDCWD, path, flags, 0); }
int __open64_2(const char *path, int flags) { return open_it(AT_FDCWD, path, flags, 0); }
int creat(const char *path, mode_t mode)
{
    return open_it(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

int close(int descriptor)
{
    if (!is_followed(descriptor))
        return (int)syscall(SYS_close, descriptor);
    pthread_mutex_lock(&lock);
    followed[descriptor] = 0;
    put(CLOSED, descriptor, 0, 0, 0);
    int result = (int)syscall(SYS_close, descriptor);
    pthread_mutex_unlock(&lock);
    return result;
}

static ssize_t write_it(int descriptor, const void *bytes, size_t length, off_t offset)
{
    pthread_mutex_lock(&lock);
    ssize_t written = syscall(SYS_pwrite64, descriptor, bytes, length, offset);
    if (written > 0)
        put(WRITTEN, descriptor, offset, bytes, (size_t)written);
    pthread_mutex_unlock(&lock);
    return written;
}

ssize_t pwrite(int descriptor, const void *bytes, size_t length, off_t offset)
{
    if (!is_followed(descriptor))
        return syscall(SYS_pwrite64, descriptor, bytes, length, offset);
    return write_it(descriptor, bytes, length, offset);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t length, off64_t offset)
{
    return pwrite(descriptor, bytes, length, offset);
}

ssize_t write(int descriptor, const void *bytes, size_t length)
{
    if (!is_followed(descriptor))
        return syscall(SYS_write, descriptor, bytes, length);
    pthread_mutex_lock(&lock);
    ssize_t written = syscall(SYS_write, descriptor, bytes, length);
    if (written > 0) /* where it began is where it ended, less what was written */
        put(WRITTEN, descriptor, syscall(SYS_lseek, descriptor, 0, SEEK_CUR) - written, bytes,
            (size_t)written);
    pthread_mutex_unlock(&lock);
    return written;
}

int ftruncate(int descriptor, off_t length)
{
    if (!is_followed(descriptor))
        return (int)syscall(SYS_ftruncate, descriptor, length);
    pthread_mutex_lock(&lock);
    int result = (int)syscall(SYS_ftruncate, descriptor, length);
    if (result == 0)
        put(CUT, descriptor, length, 0, 0);
    pthread_mutex_unlock(&lock);
    return result;
}

int ftruncate64(int descriptor, off64_t length) { return ftruncate(descriptor, length); }

static int sync_it(long call, int descriptor)
{
    if (!is_followed(descriptor))
        return (int)syscall(call, descriptor);
    pthread_mutex_lock(&lock);
    int result = (int)syscall(call, descriptor);
    if (result == 0)
        put(SYNCED, descriptor, 0, 0, 0);
    pthread_mutex_unlock(&lock);
    return result;
}

int fsync(int descriptor) { return sync_it(SYS_fsync, descriptor); }
int fdatasync(int descriptor) { return sync_it(SYS_fdatasync, descriptor); }

int unlink(const char *path)
{
    if (!is_inside(path))
        return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    pthread_mutex_lock(&lock);
    int result = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    if (result == 0)
        put(UNLINKED, -1, 0, path, strlen(path));
    pthread_mutex_unlock(&lock);
    return result;
}

static int name_it(long call, uint32_t kind, const char *old, const char *new)
{
    pthread_mutex_lock(&lock);
    int result = (int)syscall(call, AT_FDCWD, old, AT_FDCWD, new, 0);
    if (result == 0 && (is_inside(old) || is_inside(new))) {
        char both[2 * PATH_MAX];
        size_t first = strlen(old) + 1, second = strlen(new);
        if (first + second > sizeof both)
            abort();
        memcpy(both, old, first);
        memcpy(both + first, new, second);
        put(kind, -1, 0, both, first + second);
    }
    pthread_mutex_unlock(&lock);
    return result;
}

int link(const char *old, const char *new) { return name_it(SYS_linkat, LINKED, old, new); }
int rename(const char *old, const char *new) { return name_it(SYS_renameat2, RENAMED, old, new); }

/* What SQLite does not use today. Should it, the recording says so instead of missing it. */

static void beyond(int descriptor, const char *name)
{
    if (!is_followed(descriptor))
        return;
    pthread_mutex_lock(&lock);
    put(BEYOND, descriptor, 0, name, strlen(name));
    pthread_mutex_unlock(&lock);
}

ssize_t writev(int descriptor, const struct iovec *parts, int number)
{
    beyond(descriptor, "writev");
    return syscall(SYS_writev, descriptor, parts, number);
}

int fallocate(int descriptor, int mode, off_t offset, off_t length)
{
    beyond(descriptor, "fallocate");
    return (int)syscall(SYS_fallocate, descriptor, mode, offset, length);
}

int fallocate64(int descriptor, int mode, off64_t offset, off64_t length)
{
    return fallocate(descriptor, mode, offset, length);
}

int posix_fallocate(int descriptor, off_t offset, off_t length)
{
    return fallocate(descriptor, 0, offset, length) == 0 ? 0 : errno;
}

int posix_fallocate64(int descriptor, off64_t offset, off64_t length)
{
    return posix_fallocate(descriptor, offset, length);
}

void *mmap(void *address, size_t length, int protection, int flags, int descriptor, off_t offset)
{
    if ((flags & MAP_SHARED) && (protection & PROT_WRITE))
        beyond(descriptor, "mmap");
    return (void *)syscall(SYS_mmap, address, length, protection, flags, descriptor, offset);
}

void *mmap64(void *address, size_t length, int protection, int flags, int descriptor,
             off64_t offset)
{
    return mmap(address, length, protection, flags, descriptor, offset);
}
