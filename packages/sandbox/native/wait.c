/* Waiting, and killing what is to be waited for. */
#include "confine.h"

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
		return list_file;
	while ((got = CALL(read, list_file, list, sizeof(list))) > 0) {
		for (long at = 0; at < got; at++) {
			if (list[at] >= '0' && list[at] <= '9') {
				number = number * 10 + (u32)(list[at] - '0');
				continue;
			}
			if (number > 1 && (spares == NULL || !spares(number))) {
				CALL(kill, number, SIGKILL);
				found++;
			}
			number = 0;
		}
	}
	CALL(close, list_file);
	return got < 0 ? got : found;
}
