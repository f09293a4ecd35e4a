/* Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.

   Stands between a process and the files of a folder, by LD_PRELOAD: records what it does to them
   (power_cuts.py), or lets calls fail (failing_calls.py).

   CALLS_ROOT: the folder; or `calls_in(folder)`.
   CALLS_LOG: each operation is a line "kind, inode, offset, bytes, path, second path", separated by
   tabs; after a write its bytes follow. A flush is two lines, as only what was written before it
   began is on the disk when it has ended.
   `fail_calls(kinds, at, error, onward, half)`: the at-th call of these kinds fails, in this
   process and those that it forks; `calls_made()`: calls of these kinds since.

   Of the libc only: what a library writes by other calls of stdio than fopen and fwrite is not seen,
   which is why the replay of a whole log is compared with the folder. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *root;
static size_t root_size;
static int log_fd = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int is_in_root(const char *path) {
  if (!root) {
    root = getenv("CALLS_ROOT");
    if (!root) root = "";
    root_size = strlen(root);
    if (root_size && getenv("CALLS_LOG")) {
      int fd = syscall(SYS_openat, AT_FDCWD, getenv("CALLS_LOG"), O_WRONLY | O_CREAT | O_APPEND,
                       0644);
      log_fd = fcntl(fd, F_DUPFD_CLOEXEC, 900);
      syscall(SYS_close, fd);
    }
  }
  return root_size && !strncmp(path, root, root_size) && path[root_size] == '/' &&
         !strstr(path, "/tensorboard");
}

void calls_in(const char *path) {
  root = strdup(path);
  root_size = strlen(root);
}

enum { OPEN = 1, LIST = 2, READ = 4, CREATE = 8, WRITE = 16, FLUSH = 32, MKDIR = 64, RENAME = 128,
       UNLINK = 256, TRUNCATE = 512 };

/* Shared with processes that are forked. */
static struct { int kinds, error, onward, half; long at, calls; } *plan;

void fail_calls(int kinds, long at, int error, int onward, int half) {
  if (!plan)
    plan = mmap(NULL, sizeof *plan, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  plan->at = at; plan->error = error; plan->onward = onward; plan->half = half;
  plan->calls = 0;
  plan->kinds = kinds;
}

void stop_failing(void) { plan->kinds = 0; }

long calls_made(void) { return plan ? plan->calls : 0; }

/* Whether a call must fail; 2: it may do the half of its work. Error -1: the process is killed. */
static int fails(int kind) {
  if (!plan || !(plan->kinds & kind)) return 0;
  long call = __atomic_add_fetch(&plan->calls, 1, __ATOMIC_SEQ_CST);
  if (call < plan->at || (call > plan->at && !plan->onward)) return 0;
  if (plan->error == -1) kill(getpid(), SIGKILL);
  errno = plan->error;
  return plan->half && call == plan->at ? 2 : 1;
}

static void path_of(int fd, char *path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t size = readlink(link, path, PATH_MAX - 1);
  path[size < 0 ? 0 : size] = 0;
}

static void absolute(int folder, const char *path, char *out) {
  char base[PATH_MAX] = "";
  if (path[0] == '/') {
    snprintf(out, PATH_MAX, "%s", path);
    return;
  }
  if (folder != AT_FDCWD) path_of(folder, base);
  else if (!getcwd(base, sizeof base)) base[0] = 0;
  if (snprintf(out, PATH_MAX, "%s/%s", base, path) >= PATH_MAX) out[0] = 0;
}

static void put(const char *kind, uint64_t inode, int64_t offset, uint64_t bytes, const void *data,
                const char *path, const char *second) {
  if (log_fd < 0) return;
  char line[3 * PATH_MAX];
  int size = snprintf(line, sizeof line, "%s\t%lu\t%ld\t%lu\t%s\t%s\n", kind, inode, offset, bytes,
                      path, second);
  struct iovec parts[2] = {{line, size}, {(void *)data, bytes}};
  syscall(SYS_writev, log_fd, parts, data ? 2 : 1);
}

static uint64_t inode_of(int fd) {
  struct stat found;
  return fstat(fd, &found) ? 0 : found.st_ino;
}

/* Does a call and records it if it succeeds, with no other of this process between the two. */
#define RECORDED(CALL, SUCCEEDS, RECORD) \
  do {                                   \
    pthread_mutex_lock(&lock);           \
    done = (CALL);                       \
    int error = errno;                   \
    if (SUCCEEDS) { RECORD; }            \
    pthread_mutex_unlock(&lock);         \
    errno = error;                       \
  } while (0)

static int open_recorded(int folder, const char *path, int flags, mode_t mode) {
  char name[PATH_MAX];
  struct stat found;
  int done, was_there;
  absolute(folder, path, name);
  if (!is_in_root(name)) return syscall(SYS_openat, folder, path, flags, mode);
  if (fails(flags & (O_CREAT | O_TRUNC) ? CREATE : OPEN)) return -1;
  if (!(flags & (O_CREAT | O_TRUNC))) return syscall(SYS_openat, folder, path, flags, mode);
  RECORDED((was_there = !fstatat(folder, path, &found, 0),
            syscall(SYS_openat, folder, path, flags, mode)), done >= 0,
           if (!was_there) put("create", inode_of(done), 0, 0, NULL, name, "");
           else if ((flags & O_TRUNC) && found.st_size)
             put("trunc", inode_of(done), 0, 0, NULL, name, ""));
  return done;
}

#define WITH_MODE                         \
  mode_t mode = 0;                        \
  if (flags & (O_CREAT | O_TMPFILE)) {    \
    va_list rest;                         \
    va_start(rest, flags);                \
    mode = va_arg(rest, mode_t);          \
    va_end(rest);                         \
  }

int open(const char *path, int flags, ...) {
  WITH_MODE return open_recorded(AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...) {
  WITH_MODE return open_recorded(AT_FDCWD, path, flags, mode);
}
int openat(int folder, const char *path, int flags, ...) {
  WITH_MODE return open_recorded(folder, path, flags, mode);
}
int openat64(int folder, const char *path, int flags, ...) {
  WITH_MODE return open_recorded(folder, path, flags, mode);
}

static int is_recorded(int fd, char *path) {
  if (fd < 3) return 0;
  path_of(fd, path);
  return is_in_root(path);
}

ssize_t write(int fd, const void *data, size_t size) {
  char path[PATH_MAX];
  ssize_t done;
  if (!is_recorded(fd, path)) return syscall(SYS_write, fd, data, size);
  int failing = fails(WRITE);
  if (failing == 2 && size > 1) size /= 2;
  else if (failing) return -1;
  RECORDED(syscall(SYS_write, fd, data, size), done > 0,
           put("write", inode_of(fd), lseek(fd, 0, SEEK_CUR) - done, done, data, path, ""));
  return done;
}

ssize_t pwrite64(int fd, const void *data, size_t size, off_t offset) {
  char path[PATH_MAX];
  ssize_t done;
  if (!is_recorded(fd, path)) return syscall(SYS_pwrite64, fd, data, size, offset);
  if (fails(WRITE)) return -1;
  RECORDED(syscall(SYS_pwrite64, fd, data, size, offset), done > 0,
           put("write", inode_of(fd), offset, done, data, path, ""));
  return done;
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) {
  return pwrite64(fd, data, size, offset);
}

int ftruncate(int fd, off_t size) {
  char path[PATH_MAX];
  int done;
  if (!is_recorded(fd, path)) return syscall(SYS_ftruncate, fd, size);
  if (fails(TRUNCATE)) return -1;
  RECORDED(syscall(SYS_ftruncate, fd, size), !done,
           put("trunc", inode_of(fd), size, 0, NULL, path, ""));
  return done;
}
int ftruncate64(int fd, off_t size) { return ftruncate(fd, size); }

int fsync(int fd) {
  char path[PATH_MAX];
  int done = 0;
  path_of(fd, path);
  if (!is_in_root(path) && (!root_size || strcmp(path, root))) return syscall(SYS_fsync, fd);
  if (fails(FLUSH)) return -1;
  RECORDED(0, 1, put("flush", inode_of(fd), 0, 0, NULL, path, ""));
  RECORDED(syscall(SYS_fsync, fd), !done, put("flushed", inode_of(fd), 0, 0, NULL, path, ""));
  return done;
}
int fdatasync(int fd) { return fsync(fd); }

static int rename_recorded(int from, const char *path, int to, const char *second, unsigned flags) {
  char name[PATH_MAX], other[PATH_MAX];
  int done;
  absolute(from, path, name);
  absolute(to, second, other);
  if (!is_in_root(name) && !is_in_root(other))
    return syscall(SYS_renameat2, from, path, to, second, flags);
  if (fails(RENAME)) return -1;
  RECORDED(syscall(SYS_renameat2, from, path, to, second, flags), !done,
           put("rename", 0, 0, 0, NULL, name, other));
  return done;
}
int rename(const char *path, const char *second) {
  return rename_recorded(AT_FDCWD, path, AT_FDCWD, second, 0);
}
int renameat(int from, const char *path, int to, const char *second) {
  return rename_recorded(from, path, to, second, 0);
}

static int unlink_recorded(int folder, const char *path, int flags) {
  char name[PATH_MAX];
  int done;
  absolute(folder, path, name);
  if (!is_in_root(name)) return syscall(SYS_unlinkat, folder, path, flags);
  if (fails(UNLINK)) return -1;
  RECORDED(syscall(SYS_unlinkat, folder, path, flags), !done,
           put(flags & AT_REMOVEDIR ? "rmdir" : "unlink", 0, 0, 0, NULL, name, ""));
  return done;
}
int unlink(const char *path) { return unlink_recorded(AT_FDCWD, path, 0); }
int unlinkat(int folder, const char *path, int flags) {
  return unlink_recorded(folder, path, flags);
}
int rmdir(const char *path) { return unlink_recorded(AT_FDCWD, path, AT_REMOVEDIR); }

static int mkdir_recorded(int folder, const char *path, mode_t mode) {
  char name[PATH_MAX];
  int done;
  absolute(folder, path, name);
  if (!is_in_root(name)) return syscall(SYS_mkdirat, folder, path, mode);
  if (fails(MKDIR)) return -1;
  RECORDED(syscall(SYS_mkdirat, folder, path, mode), !done,
           put("mkdir", 0, 0, 0, NULL, name, ""));
  return done;
}
int mkdir(const char *path, mode_t mode) { return mkdir_recorded(AT_FDCWD, path, mode); }
int mkdirat(int folder, const char *path, mode_t mode) {
  return mkdir_recorded(folder, path, mode);
}

static int fails_to_read(int fd) {
  char path[PATH_MAX];
  return plan && (plan->kinds & READ) && is_recorded(fd, path) && fails(READ);
}
ssize_t read(int fd, void *data, size_t size) {
  return fails_to_read(fd) ? -1 : syscall(SYS_read, fd, data, size);
}
ssize_t pread64(int fd, void *data, size_t size, off_t offset) {
  return fails_to_read(fd) ? -1 : syscall(SYS_pread64, fd, data, size, offset);
}
ssize_t pread(int fd, void *data, size_t size, off_t offset) {
  return pread64(fd, data, size, offset);
}

#define REAL(NAME) ((__typeof__(&NAME))dlsym(RTLD_NEXT, #NAME))

DIR *opendir(const char *path) {
  char name[PATH_MAX];
  absolute(AT_FDCWD, path, name);
  return is_in_root(name) && fails(LIST) ? NULL : REAL(opendir)(path);
}

/* Of stdio what TensorFlow writes with; without a buffer. */
FILE *fopen(const char *path, const char *mode) {
  char name[PATH_MAX];
  absolute(AT_FDCWD, path, name);
  if (!is_in_root(name) || mode[0] == 'r') return REAL(fopen)(path, mode);
  int fd = open(path, O_CREAT | (strchr(mode, '+') ? O_RDWR : O_WRONLY) |
                          (mode[0] == 'a' ? O_APPEND : O_TRUNC), 0666);
  return fd < 0 ? NULL : fdopen(fd, mode);
}
FILE *fopen64(const char *path, const char *mode) { return fopen(path, mode); }

size_t fwrite(const void *data, size_t size, size_t count, FILE *file) {
  char path[PATH_MAX];
  if (!is_recorded(fileno(file), path)) return REAL(fwrite)(data, size, count, file);
  size_t written = 0, all = size * count;
  while (written < all) {
    ssize_t done = write(fileno(file), (const char *)data + written, all - written);
    if (done < 0) break;
    written += done;
  }
  return size ? written / size : 0;
}

/* Copies fall back to write. */
ssize_t sendfile(int out, int in, off_t *offset, size_t size) {
  (void)out; (void)in; (void)offset; (void)size;
  errno = ENOSYS;
  return -1;
}
ssize_t sendfile64(int out, int in, off_t *offset, size_t size) {
  return sendfile(out, in, offset, size);
}
ssize_t copy_file_range(int in, off64_t *in_offset, int out, off64_t *out_offset, size_t size,
                        unsigned flags) {
  (void)in; (void)in_offset; (void)out; (void)out_offset; (void)size; (void)flags;
  errno = ENOSYS;
  return -1;
}
