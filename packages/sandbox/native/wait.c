/* Waiting, and killing what is to be waited for. */
#include "confine.h"
#include "text.h"

struct timespec {
	i64 seconds, nanoseconds;
};

long poll_for(struct pollfd *watched, size_t count, i32 milliseconds)
{
	struct timespec patience = { milliseconds / 1000, (i64)(milliseconds % 1000) * 1000000 };
	return CALL(ppoll, watched, count, milliseconds < 0 ? NULL : &patience, NULL, 0);
}

u64 milliseconds_now(void)
{
	enum { CLOCK_MONOTONIC = 1 };
	struct timespec now = { 0, 0 };
	CALL(clock_gettime, CLOCK_MONOTONIC, &now);
	return (u64)now.seconds * 1000 + (u64)now.nanoseconds / 1000000;
}

/* "pid (name) state parent group ...": the name may hold anything, so the numbers are found from its end. */
long parent_of(u32 process)
{
	struct text path;
	char contents[512];
	proc_path(&path, process, "/stat", -1);
	long file = CALL(openat, AT_FDCWD, path.bytes, O_RDONLY | O_CLOEXEC, 0);
	if (file < 0)
		return file;
	long length = CALL(read, file, contents, sizeof(contents) - 1);
	CALL(close, file);
	if (length < 0)
		return length;
	contents[length] = 0;
	long after = -1;
	for (long at = 0; at < length; at++)
		if (contents[at] == ')')
			after = at;
	/* ") S 123 " */
	if (after < 0 || after + 4 >= length)
		return -ESRCH;
	long parent = 0;
	for (const char *at = contents + after + 4; *at >= '0' && *at <= '9'; at++)
		parent = parent * 10 + (*at - '0');
	return parent;
}

struct directory_entry {
	u64 inode;
	i64 offset;
	u16 length;
	u8 type;
	char name[];
};

/* 0 for a name that is no number of a process. */
static u32 process_of(const char *name)
{
	u32 number = 0;
	for (; *name >= '0' && *name <= '9' && number < 100000000; name++)
		number = number * 10 + (u32)(*name - '0');
	return *name == 0 ? number : 0;
}

static long kill_one(u32 child, int (*spares)(u32 process))
{
	if (child <= 1 || (spares != NULL && spares(child)))
		return 0;
	CALL(kill, child, SIGKILL);
	return 1;
}

/* For kernels without lists of children: every process says who its parent is. */
static long kill_by_parent(int (*spares)(u32 process))
{
	u8 entries[4096] __attribute__((aligned(8)));
	long self = CALL(getpid), found = 0, got;
	int directory = (int)CALL(openat, AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (directory < 0)
		return directory;
	while ((got = CALL(getdents64, directory, entries, sizeof(entries))) > 0) {
		for (long at = 0; at < got;) {
			const struct directory_entry *entry = (const struct directory_entry *)(entries + at);
			u32 process = process_of(entry->name);
			if (process > 1 && parent_of(process) == self)
				found += kill_one(process, spares);
			at += entry->length;
		}
	}
	CALL(close, directory);
	return got < 0 ? got : found;
}

/*
 * A child keeps its number until we reap it, so no number in the list can have passed to a stranger. Children that appear
 * meanwhile are found by the next round.
 */
long kill_children(int (*spares)(u32 process))
{
	char list[4096];
	long found = 0, got;
	u32 number = 0;
	int list_file = (int)CALL(openat, AT_FDCWD, "/proc/thread-self/children", O_RDONLY | O_CLOEXEC, 0);
	if (list_file < 0)
		return kill_by_parent(spares);
	while ((got = CALL(read, list_file, list, sizeof(list))) > 0) {
		for (long at = 0; at < got; at++) {
			if (list[at] >= '0' && list[at] <= '9') {
				number = number * 10 + (u32)(list[at] - '0');
				continue;
			}
			found += kill_one(number, spares);
			number = 0;
		}
	}
	CALL(close, list_file);
	return got < 0 ? got : found;
}

/* Whether the two ways to find children lead anywhere: without a /proc of our own namespace they do not. */
int finds_children(void)
{
	return parent_of((u32)CALL(getpid)) == CALL(getppid);
}
