/* What the helper knows of the commands that run: each has a supervisor, a child of the helper. */
#include "confine.h"

enum { CLONE_AND_SIGNAL_PARENT = SIGCHLD, WNOHANG = 1, WALL = 0x40000000, LOOK_MS = 100, STUCK_MS = 500, STRAYS_MS = 5 };
enum { PROT_READ_WRITE = 3, MAP_SHARED_ANONYMOUS = 0x21 };

static struct running {
	u32 id;
	/* 0: unused. */
	u32 supervisor;
	int is_killing;
	/* Since when the supervisor has shown no life, and what it showed last. */
	u64 quiet_since;
	u32 last_beat;
} running[MAX_RUNNING];

static volatile u32 *beats;
static u32 killing_count;
static int has_strays;

static struct running *find_running(u32 id)
{
	for (size_t index = 0; index < MAX_RUNNING; index++)
		if (running[index].supervisor != 0 && running[index].id == id)
			return &running[index];
	return NULL;
}

static struct running *find_unused(void)
{
	if (beats == NULL) {
		long memory = CALL(mmap, NULL, MAX_RUNNING * sizeof(u32), PROT_READ_WRITE, MAP_SHARED_ANONYMOUS, -1, 0);
		if (memory < 0 && memory > -4096)
			return NULL;
		beats = (volatile u32 *)memory;
	}
	for (size_t index = 0; index < MAX_RUNNING; index++)
		if (running[index].supervisor == 0)
			return &running[index];
	return NULL;
}

static void report_failure(u32 id, enum start_step step, u32 errno_)
{
	u32 failure[3] = { step, errno_, 0 };
	send_frame(FD_SOCKET, FRAME_FAILED, id, failure, 3, NULL, 0);
}

void start_command(u32 id, const struct run_request *request)
{
	const struct policy *policy = find_policy(request->policy);
	struct running *entry = find_unused();
	if (policy == NULL || entry == NULL || find_running(id) != NULL) {
		report_failure(id, STEP_REQUEST, policy == NULL ? ENOENT : EAGAIN);
	} else {
		struct supervision supervision = {
			id, (int)CALL(getpid), request, policy, &beats[entry - running],
		};
		long supervisor = CALL(clone, CLONE_AND_SIGNAL_PARENT);
		if (supervisor == 0)
			supervise(&supervision);
		if (supervisor < 0)
			report_failure(id, STEP_FORK, (u32)-supervisor);
		else
			*entry = (struct running){ id, (u32)supervisor, 0, 0, 0 };
	}
	for (size_t index = 0; index < 3; index++)
		close_slot(request->slots[index]);
}

void kill_command(u32 id)
{
	struct running *entry = find_running(id);
	if (entry == NULL || entry->is_killing)
		return;
	entry->is_killing = 1;
	entry->quiet_since = milliseconds_now();
	entry->last_beat = beats[entry - running];
	killing_count++;
	CALL(kill, entry->supervisor, SIGTERM);
}

static int is_supervisor(u32 process)
{
	for (size_t index = 0; index < MAX_RUNNING; index++)
		if (running[index].supervisor == process)
			return 1;
	return 0;
}

/* A supervisor that ended well has reported; of any other we know nothing but that its command is over. */
static void bury(u32 process, int status)
{
	for (size_t index = 0; index < MAX_RUNNING; index++) {
		struct running *entry = &running[index];
		if (entry->supervisor != process)
			continue;
		if (entry->is_killing)
			killing_count--;
		if (status != 0) {
			u32 lost[5] = { ~0U, 0, 0, 0, 0 };
			has_strays = 1;
			send_frame(FD_SOCKET, FRAME_EXITED, entry->id, lost, 5, NULL, 0);
		}
		entry->supervisor = 0;
		return;
	}
}

void reap_children(void)
{
	for (;;) {
		int status = 0;
		long process = CALL(wait4, -1, &status, WNOHANG | WALL, NULL);
		if (process <= 0)
			return;
		bury((u32)process, status);
	}
}

i32 look_after_commands(void)
{
	/* What a lost supervisor had in its care came to us, and more comes with each parent that dies. */
	if (has_strays && kill_children(is_supervisor) == 0)
		has_strays = 0;
	if (killing_count > 0) {
		u64 now = milliseconds_now();
		for (size_t index = 0; index < MAX_RUNNING; index++) {
			struct running *entry = &running[index];
			if (entry->supervisor == 0 || !entry->is_killing)
				continue;
			if (entry->last_beat != beats[index]) {
				entry->last_beat = beats[index];
				entry->quiet_since = now;
			} else if (now - entry->quiet_since > STUCK_MS) {
				CALL(kill, entry->supervisor, SIGKILL);
			}
		}
	}
	return has_strays ? STRAYS_MS : killing_count > 0 ? LOOK_MS : -1;
}
