/*
 * Commands in namespaces of their own. The supervisor enters those of the template; a child of it is the first process
 * inside, with its own processes, mounts, shared objects, host name, control groups and network. When that one ends, the kernel ends all the others.
 */
#include "mount.h"

enum { CLONE_NEWNS = 0x20000, CLONE_NEWCGROUP = 0x2000000, CLONE_NEWUTS = 0x4000000, CLONE_NEWIPC = 0x8000000,
       CLONE_NEWPID = 0x20000000, CLONE_NEWNET = 0x40000000 };
enum { CLONE_VM = 0x100, CLONE_VFORK = 0x4000, STACK = 64 * 1024, WALL = 0x40000000 };
enum { PR_SET_PDEATHSIG = 1, PR_SET_DUMPABLE = 4, FIRST_AFTER_STANDARD = 3, LOST = 1, WNOHANG = 1 };

static struct inside *inside;

__attribute__((noreturn)) static void give_up(enum start_step step, long result)
{
	inside->errno_ = (u32)-result;
	inside->step = step;
	leave(LOST);
}

/* The only interface of a new network is down. */
static long start_loopback(void)
{
	enum { AF_INET = 2, SOCK_DGRAM = 2, SOCK_CLOEXEC = O_CLOEXEC, SET_FLAGS = 0x8914, UP = 1, RUNNING = 0x40 };
	struct {
		char name[16];
		short flags;
		char rest[22];
	} request = { "lo", UP | RUNNING, { 0 } };
	int socket = (int)CALL(socket, AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (socket < 0)
		return socket;
	long result = CALL(ioctl, socket, SET_FLAGS, &request);
	CALL(close, socket);
	return result;
}

/* Before the command runs, so that its first connection finds a listener. */
static long open_way_out(const struct supervision *of, int forwarder)
{
	if (forwarder < 0)
		return 0;
	int listener = listen_on_loopback(of->request->proxy_port);
	if (listener < 0)
		return listener;
	long result = send_descriptor(forwarder, listener);
	CALL(close, listener);
	CALL(close, forwarder);
	return result;
}

static int open_directory(const struct run_request *request)
{
	int directory = open_name(request->directory, O_DIRECTORY);
	if (directory < 0)
		return directory;
	long result = check_identity(directory, &request->directory_identity);
	if (result == 0)
		return directory;
	CALL(close, directory);
	return (int)result;
}

/* The kernel has made the command's children ours before it tells of its end. */
static int has_living_children(void)
{
	for (;;) {
		int status = 0;
		long process = CALL(wait4, -1, &status, WNOHANG | WALL, NULL);
		if (process == 0)
			return 1;
		if (process < 0 && process != -EINTR)
			return 0;
	}
}

/* Also reaps every orphan of the command: the kernel makes them ours. */
__attribute__((noreturn)) static void outlive(u32 command)
{
	CALL(close_range, FIRST_AFTER_STANDARD, ~0U, 0);
	for (;;) {
		int status = 0;
		long process = CALL(wait4, -1, &status, WALL, NULL);
		if ((u32)process == command && process > 0) {
			inside->status = status;
			inside->left_behind = has_living_children();
			inside->has_ended = 1;
			leave(0);
		}
		if (process == -ECHILD)
			leave(LOST);
	}
}

__attribute__((noreturn)) static void be_first(const struct supervision *of, const int *groups, int supervisor,
						       int forwarder)
{
	static u8 stack[STACK] __attribute__((aligned(16)));
	static struct becoming becoming;
	const struct run_request *request = of->request;
	u32 failed = 0;
	long result;
	/* If the supervisor died before this, its descriptor says so. */
	struct pollfd death = { supervisor, POLLIN, 0 };
	if ((result = CALL(prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)) < 0 || poll_for(&death, 1, 0) != 0)
		give_up(STEP_FORK, -ESRCH);
	if (!of->policy->shares_network && (result = start_loopback()) < 0)
		give_up(STEP_NAMESPACE, result);
	if ((result = open_way_out(of, forwarder)) < 0)
		give_up(STEP_NAMESPACE, result);
	result = take_places(request->mounts, request->mount_count, &failed);
	if (result == 0)
		result = make_tree(request->mounts, request->mount_count, &failed);
	inside->mount = failed;
	if (result < 0)
		give_up(STEP_NAMESPACE, result);
	int directory = open_directory(request);
	if (directory < 0)
		give_up(STEP_DIRECTORY, directory);
	/* Nothing inside may look into this process: it has the memory of the helper. */
	if ((result = drop_capabilities()) < 0 || (result = CALL(prctl, PR_SET_DUMPABLE, 0, 0, 0, 0)) < 0)
		give_up(STEP_PRIVILEGES, result);
	becoming = (struct becoming){ request, of->policy, (int)CALL(getpid), directory, groups, 0, 0, -1 };
	long command = clone_shared(CLONE_VM | CLONE_VFORK | SIGCHLD, stack + STACK, become_command, &becoming);
	if (command < 0)
		give_up(STEP_FORK, command);
	if (becoming.step != 0)
		give_up(becoming.step, -(long)becoming.errno_);
	outlive((u32)command);
}

long start_inside(const struct supervision *of, const int *groups, int forwarder, struct inside *shared)
{
	u64 flags = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP | SIGCHLD;
	inside = shared;
	for (size_t index = 0; index < NAMESPACES; index++) {
		long result = CALL(setns, of->policy->namespaces[index], 0);
		if (result < 0)
			return result;
	}
	int supervisor = (int)CALL(pidfd_open, CALL(getpid), 0);
	if (supervisor < 0)
		return supervisor;
	if (!of->policy->shares_network)
		flags |= CLONE_NEWNET;
	/* Not with shared memory: entering a user namespace closes a process to all who share it, the helper included. */
	long first = CALL(clone, flags);
	if (first == 0)
		be_first(of, groups, supervisor, forwarder);
	CALL(close, supervisor);
	return first;
}
