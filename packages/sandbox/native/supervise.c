/*
 * A supervisor: the parent of one command. It judges the calls that the command's filter hands over, and it ends
 * everything that the command started: as a subreaper it inherits every orphan, so "nothing is left" is exact.
 */
#include "confine.h"
#include "vet.h"

enum { PR_SET_PDEATHSIG = 1, PR_SET_CHILD_SUBREAPER = 36, WNOHANG = 1, WALL = 0x40000000 };
enum { CLONE_VM = 0x100, CLONE_FILES = 0x400, CLONE_VFORK = 0x4000, STACK = 64 * 1024 };
enum { ROUND_MS = 10, PATIENCE_MS = 10000, LOST = 1 };

static struct {
	const struct supervision *of;
	u32 command;
	int command_ended, command_status;
	int is_ending;
	u32 left_behind;
	/* Nothing is left. */
	int is_alone;
	/* Of a command in namespaces; `command` is their first process then. */
	struct inside *inside;
	/* The process that leads to the command's proxy; 0: none. */
	u32 forwarder;
} life;

__attribute__((noreturn)) static void fail_to_start(enum start_step step, u32 errno_, u32 mount)
{
	u32 failure[3] = { step, errno_, mount };
	send_frame(FD_SOCKET, FRAME_FAILED, life.of->id, failure, 3, NULL, 0);
	leave(0);
}

static void reap(void)
{
	for (;;) {
		int status = 0;
		long process = CALL(wait4, -1, &status, WNOHANG | WALL, NULL);
		if (process == -EINTR)
			continue;
		if (process == -ECHILD)
			life.is_alone = 1;
		if (process <= 0)
			return;
		++*life.of->beat;
		if ((u32)process == life.command) {
			life.command_ended = 1;
			/* The first process itself ends like that only when it was killed. */
			life.command_status = life.inside != NULL && life.inside->has_ended ? life.inside->status : status;
		} else if ((u32)process == life.forwarder) {
			life.forwarder = 0;
		} else if (life.is_ending && (status & 0x7f) == SIGKILL) {
			life.left_behind++;
		}
	}
}

/* Whatever is not needed from now on, above all the ends of pipes: a reader waits for the last writer to close. */
static void keep_few_descriptors(const struct policy *policy, int calls)
{
	for (u32 index = 0; index < policy->root_count; index++)
		CALL(dup3, policy->roots[index], FD_ROOTS + (int)index, O_CLOEXEC);
	if (calls >= 0)
		CALL(dup3, calls, FD_CALLS, O_CLOEXEC);
	CALL(close_range, FD_FIRST_FREE, ~0U, 0);
}

static int start_under_landlock(const int *groups)
{
	static u8 stack[STACK] __attribute__((aligned(16)));
	static struct becoming becoming;
	const struct supervision *of = life.of;
	int directory = (int)CALL(openat, AT_FDCWD, of->request->directory, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	if (directory < 0)
		fail_to_start(STEP_DIRECTORY, (u32)-directory, 0);
	becoming = (struct becoming){ of->request, of->policy, (int)CALL(getpid), directory, groups, 0, 0, -1 };
	u64 flags = CLONE_VM | CLONE_VFORK | SIGCHLD | (of->policy->vets ? CLONE_FILES : 0);
	long command = clone_shared(flags, stack + STACK, become_command, &becoming);
	if (command < 0)
		fail_to_start(STEP_FORK, (u32)-command, 0);
	if (becoming.step != 0)
		fail_to_start(becoming.step, becoming.errno_, 0);
	life.command = (u32)command;
	return becoming.calls;
}

static int start_in_namespaces(const int *groups)
{
	enum { PROT_READ_WRITE = 3, MAP_SHARED_ANONYMOUS = 0x21 };
	long memory = CALL(mmap, NULL, sizeof(struct inside), PROT_READ_WRITE, MAP_SHARED_ANONYMOUS, -1, 0);
	if (memory < 0 && memory > -4096)
		fail_to_start(STEP_FORK, (u32)-memory, 0);
	life.inside = (struct inside *)memory;
	int forwarder = -1;
	/* Outside: it shall find the socket by its name. */
	if (life.of->request->proxy[0] != 0) {
		long process = start_forwarder(life.of->request->proxy, &forwarder);
		if (process < 0)
			fail_to_start(STEP_FORK, (u32)-process, 0);
		life.forwarder = (u32)process;
	}
	long first = start_inside(life.of, groups, forwarder, life.inside);
	if (first < 0)
		fail_to_start(STEP_NAMESPACE, (u32)-first, 0);
	life.command = (u32)first;
	/* The change of credentials may have cleared it. */
	CALL(prctl, PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
	if (CALL(getppid) != life.of->helper)
		leave(LOST);
	return -1;
}

/* True if calls come to be judged. */
static int start(void)
{
	int groups[MAX_GROUPS];
	const struct policy *policy = life.of->policy;
	long result = open_groups(life.of->request, groups);
	if (result < 0)
		fail_to_start(STEP_LIMIT, (u32)-result, 0);
	int calls = policy->is_template ? start_in_namespaces(groups) : start_under_landlock(groups);
	keep_few_descriptors(policy, calls);
	return calls >= 0;
}

/* Minus an errno where our children cannot be found. */
static long kill_what_is_left(void)
{
	if (life.forwarder != 0)
		CALL(kill, life.forwarder, SIGKILL);
	if (life.inside == NULL)
		return kill_children(NULL);
	/* Its number is another's once we have reaped it. */
	return life.command_ended ? 0 : CALL(kill, life.command, SIGKILL);
}

/* Kills and reaps, round after round: each parent that dies hands its children to us. */
__attribute__((noreturn)) static void end_everything(void)
{
	u64 patience = milliseconds_now() + PATIENCE_MS;
	life.is_ending = 1;
	for (reap(); !life.is_alone; reap()) {
		struct pollfd signals = { FD_SIGNALS, POLLIN, 0 };
		++*life.of->beat;
		/* Those of its group at least. */
		if (kill_what_is_left() < 0)
			CALL(kill, -(long)life.command, SIGKILL);
		poll_for(&signals, 1, ROUND_MS);
		read_signals();
		/* A process that the kernel cannot end: the helper inherits it, and says that we do not know. */
		if (milliseconds_now() > patience)
			leave(LOST);
	}
	if (life.inside != NULL && life.inside->step != 0)
		fail_to_start(life.inside->step, life.inside->errno_, life.inside->mount);
	/* The helper died, and everything was killed for that: who reads the socket learns it from its end. */
	if (CALL(getppid) != life.of->helper)
		leave(LOST);
	u32 left_behind = life.inside != NULL ? (u32)life.inside->left_behind : life.left_behind;
	u32 end[5] = { (u32)life.command_status, left_behind, vetted_calls(), refused_calls(), absent_calls() };
	send_frame(FD_SOCKET, FRAME_EXITED, life.of->id, end, 5, NULL, 0);
	leave(0);
}

void supervise(const struct supervision *supervision)
{
	life.of = supervision;
	CALL(prctl, PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
	if (CALL(getppid) != supervision->helper)
		leave(LOST);
	if (CALL(prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		fail_to_start(STEP_FORK, EPERM, 0);
	int vets = start();
	/* What is done for a command must never exceed the command's own rights. */
	if (drop_capabilities() < 0)
		leave(LOST);
	u32 started[2] = { life.command, (u32)CALL(getpid) };
	send_frame(FD_SOCKET, FRAME_STARTED, supervision->id, started, 2, NULL, 0);
	prepare_vetting(supervision->id, supervision->policy->root_count);
	for (;;) {
		struct pollfd watched[2] = { { FD_SIGNALS, POLLIN, 0 }, { FD_CALLS, POLLIN, 0 } };
		poll_for(watched, vets ? 2 : 1, -1);
		if (watched[0].revents != 0) {
			u32 seen = read_signals();
			reap();
			if ((seen & SIGNAL_KILL) != 0 || life.command_ended)
				end_everything();
		}
		if (vets && (watched[1].revents & POLLIN) != 0)
			vet_one_call();
		else if (vets && (watched[1].revents & (POLLHUP | POLLERR)) != 0)
			vets = 0;
	}
}
