/*
 * Pipes for commands. Node cannot receive a descriptor, so it opens its end by the name that the descriptor has in our
 * /proc directory, and later says by the slot which command gets the other end.
 */
#include "confine.h"

enum { F_SETPIPE_SZ = 1031, PIPE_SIZE = 256 * 1024 };

static struct {
	int used;
	int ends[2];
} slots[MAX_SLOTS];

long make_pipe(struct slot_names *names)
{
	for (u32 slot = 0; slot < MAX_SLOTS; slot++) {
		if (slots[slot].used)
			continue;
		long result = CALL(pipe2, slots[slot].ends, O_CLOEXEC);
		if (result < 0)
			return result;
		/* Fewer switches between a command that prints a lot and its reader. Users have a quota: never required. */
		CALL(fcntl, slots[slot].ends[WRITE_END], F_SETPIPE_SZ, PIPE_SIZE);
		slots[slot].used = 1;
		*names = (struct slot_names){ slot, (u32)slots[slot].ends[READ_END], (u32)slots[slot].ends[WRITE_END] };
		return 0;
	}
	return -EAGAIN;
}

int slot_descriptor(i32 slot, enum pipe_end end)
{
	if (slot < 0 || slot >= MAX_SLOTS || !slots[slot].used)
		return -EBADF;
	return slots[slot].ends[end];
}

void close_slot(i32 slot)
{
	if (slot < 0 || slot >= MAX_SLOTS || !slots[slot].used)
		return;
	CALL(close, slots[slot].ends[READ_END]);
	CALL(close, slots[slot].ends[WRITE_END]);
	slots[slot].used = 0;
}
