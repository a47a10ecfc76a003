/*
 * The process that forwards. With namespaces it is a child of the supervisor, outside, and the first process inside hands
 * it the listening socket. With bubblewrap it is inside, and the parent of the command.
 */
#include "confine.h"
#include "text.h"

enum { AF_UNIX = 1, SOCK_STREAM = 1, SOCK_CLOEXEC = O_CLOEXEC, SOL_SOCKET = 1, SCM_RIGHTS = 1 };
enum { PR_SET_PDEATHSIG = 1, PR_SET_DUMPABLE = 4, PR_SET_NO_NEW_PRIVS = 38, WNOHANG = 1, WALL = 0x40000000 };
enum { FORWARDER_ENDED = 1, CANNOT_START = 1 };

struct message {
	void *name;
	u32 name_length;
	struct {
		void *bytes;
		size_t length;
	} *parts;
	size_t part_count;
	void *control;
	size_t control_length;
	u32 flags;
};

/* A message of one byte with one descriptor. */
struct handover {
	struct {
		size_t length;
		i32 level, type;
		i32 descriptor, padding;
	} control;
	struct {
		void *bytes;
		size_t length;
	} part;
	u8 byte;
	struct message message;
};

static void prepare(struct handover *handover)
{
	memset(handover, 0, sizeof(*handover));
	handover->control.length = 20;
	handover->control.level = SOL_SOCKET;
	handover->control.type = SCM_RIGHTS;
	handover->control.descriptor = -1;
	handover->part.bytes = &handover->byte;
	handover->part.length = 1;
	handover->message.parts = (void *)&handover->part;
	handover->message.part_count = 1;
	handover->message.control = &handover->control;
	handover->message.control_length = sizeof(handover->control);
}

long send_descriptor(int socket, int descriptor)
{
	struct handover handover;
	prepare(&handover);
	handover.control.descriptor = descriptor;
	long sent = CALL(sendmsg, socket, &handover.message, 0);
	return sent < 0 ? sent : 0;
}

static int take_over(int socket)
{
	struct handover handover;
	prepare(&handover);
	long got = CALL(recvmsg, socket, &handover.message, 0);
	return got == 1 ? handover.control.descriptor : -EBADF;
}

__attribute__((noreturn)) static void be_forwarder(const char *path, int socket, int supervisor)
{
	CALL(prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (CALL(getppid) != supervisor)
		leave(FORWARDER_ENDED);
	/* Below all else that is open, the helper's pipes above all. */
	if (CALL(dup3, socket, FD_SOCKET, O_CLOEXEC) < 0 || CALL(close_range, FD_SOCKET + 1, ~0U, 0) < 0)
		leave(FORWARDER_ENDED);
	if (CALL(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || drop_capabilities() < 0 ||
	    CALL(prctl, PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		leave(FORWARDER_ENDED);
	int listener = take_over(FD_SOCKET);
	/* By SIGKILL only: the change of credentials may have cleared it. */
	CALL(prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (listener < 0 || CALL(getppid) != supervisor)
		leave(FORWARDER_ENDED);
	forward_connections(listener, path, -1);
	leave(FORWARDER_ENDED);
}

long start_forwarder(const char *path, int *socket)
{
	int pair[2];
	int supervisor = (int)CALL(getpid);
	long result = CALL(socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair);
	if (result < 0)
		return result;
	result = CALL(clone, SIGCHLD);
	if (result == 0)
		be_forwarder(path, pair[0], supervisor);
	CALL(close, pair[0]);
	if (result < 0)
		CALL(close, pair[1]);
	*socket = pair[1];
	return result;
}

/* Says on FD_SOCKET, which no command ever has, that there was none: its own exit code can be any. */
__attribute__((noreturn)) static void be_command(const char **arguments, const char **variables, int parent)
{
	static const char reason[] = "confine: the program cannot be started: ";
	CALL(setsid);
	CALL(prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (CALL(getppid) == parent && allow_signals() == 0 && CALL(close_range, FD_SOCKET + 1, ~0U, 0) == 0)
		execute(arguments, variables);
	CALL(write, FD_SOCKET, "!", 1);
	CALL(write, 2, reason, sizeof(reason) - 1);
	CALL(write, 2, arguments[0], length_of(arguments[0]));
	CALL(write, 2, "\n", 1);
	leave(CANNOT_START);
}

/* How a shell tells the end of a command. */
__attribute__((noreturn)) static void end_as(int status)
{
	int signal = status & 0x7f;
	leave(signal == 0 ? (status >> 8) & 0xff : 128 + signal);
}

int run_forward(const char *path, const char *port_text, const char *failed_text, const char **arguments,
		const char **variables)
{
	u32 port = number_in(port_text);
	int failed = (int)number_in(failed_text);
	if (port == 0 || failed <= FD_SOCKET || CALL(dup3, failed, FD_SOCKET, O_CLOEXEC) < 0)
		return CANNOT_START;
	/* What else was handed to us is not for the command either. */
	CALL(close_range, FD_SOCKET + 1, ~0U, 0);
	int parent = (int)CALL(getpid);
	/* First, since it takes a number of its own. */
	int listener = block_signals() < 0 ? -EINVAL : listen_on_loopback(port);
	long command = listener < 0 ? listener : CALL(clone, SIGCHLD);
	if (command == 0)
		be_command(arguments, variables, parent);
	if (command < 0) {
		CALL(write, FD_SOCKET, "!", 1);
		return CANNOT_START;
	}
	/* Its output ends when it ends it. */
	CALL(close_range, 0, FD_SOCKET, 0);
	for (;;) {
		int status = 0;
		long ended;
		forward_connections(listener, path, FD_SIGNALS);
		read_signals();
		while ((ended = CALL(wait4, -1, &status, WNOHANG | WALL, NULL)) > 0)
			if (ended == command)
				end_as(status);
	}
}
