/* Records what a process writes, syncs, creates and removes below the folder POWER_FOLDER, in order, in the file
 * POWER_LOG: a line with the kind, the path, an offset and a length, then so many bytes. Loaded by LD_PRELOAD. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define REAL(name) static __typeof__(name) *real; if (!real) real = dlsym(RTLD_NEXT, #name)

static void record(const char *kind, const char *path, long offset, const void *data, size_t length)
{
	static ssize_t (*append)(int, const void *, size_t);
	static int out = -1;
	const char *folder = getenv("POWER_FOLDER");
	char head[5000];
	if (!folder || strncmp(path, folder, strlen(folder)))
		return;
	if (out < 0) {
		append = dlsym(RTLD_NEXT, "write");
		int (*opening)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
		out = opening(getenv("POWER_LOG"), O_WRONLY | O_CREAT | O_APPEND, 0600);
	}
	int size = snprintf(head, sizeof head, "%s\t%s\t%ld\t%zu\n", kind, path, offset, data ? length : 0);
	if (append(out, head, size) != size || (data && append(out, data, length) != (ssize_t)length))
		abort();
}

static void record_file(const char *kind, int file, long offset, const void *data, size_t length)
{
	char link[64], path[4096];
	snprintf(link, sizeof link, "/proc/self/fd/%d", file);
	ssize_t size = readlink(link, path, sizeof path - 1);
	if (size < 0)
		return;
	path[size] = 0;
	record(kind, path, offset, data, length);
}

#define OPEN(name) \
	int name(const char *path, int flags, ...) \
	{ \
		REAL(name); \
		va_list rest; \
		va_start(rest, flags); \
		mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0; \
		va_end(rest); \
		struct stat before; \
		int made = flags & O_CREAT && stat(path, &before); \
		int file = real(path, flags, mode); \
		if (file >= 0 && made) \
			record_file("create", file, 0, 0, 0); \
		return file; \
	}
OPEN(open)
OPEN(open64)

#define PWRITE(name, type) \
	ssize_t name(int file, const void *data, size_t length, type offset) \
	{ \
		REAL(name); \
		ssize_t done = real(file, data, length, offset); \
		if (done > 0) \
			record_file("write", file, offset, data, done); \
		return done; \
	}
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t write(int file, const void *data, size_t length)
{
	REAL(write);
	struct stat facts;
	long offset = fstat(file, &facts) || !S_ISREG(facts.st_mode) ? -1 : lseek(file, 0, SEEK_CUR);
	ssize_t done = real(file, data, length);
	if (done > 0 && offset >= 0)
		record_file("write", file, offset, data, done);
	return done;
}

#define TRUNCATE(name, type) \
	int name(int file, type length) \
	{ \
		REAL(name); \
		int failed = real(file, length); \
		if (!failed) \
			record_file("truncate", file, length, 0, 0); \
		return failed; \
	}
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

#define SYNC(name) \
	int name(int file) \
	{ \
		REAL(name); \
		int failed = real(file); \
		if (!failed) \
			record_file("sync", file, 0, 0, 0); \
		return failed; \
	}
SYNC(fsync)
SYNC(fdatasync)

int unlink(const char *path)
{
	REAL(unlink);
	int failed = real(path);
	if (!failed)
		record("unlink", path, 0, 0, 0);
	return failed;
}

int rename(const char *old, const char *new)
{
	REAL(rename);
	int failed = real(old, new);
	if (!failed)
		record("rename", old, 0, new, strlen(new));
	return failed;
}
