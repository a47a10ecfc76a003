/* The parts of the program and what they know of each other. */
#ifndef CONFINE_H
#define CONFINE_H

#include "frames.h"

/* Descriptors with a number of their own in the helper, or in a supervisor. All else lies above. */
enum {
	FD_SOCKET = 3,
	FD_SIGNALS = 4,
	FD_NULL = 5,
	/* A supervisor's: calls to judge, and the places whose contents a command may change. */
	FD_CALLS = 6,
	FD_ROOTS = 7,
	MAX_ROOTS = 8,
	FD_FIRST_FREE = FD_ROOTS + MAX_ROOTS,
};

enum { MAX_POLICIES = 128, MAX_SLOTS = 256, MAX_RUNNING = 1024 };

/*
 * Namespaces that commands of a template enter: the first gives the rights to enter the second. Two descriptors for each
 * template, since a process may be allowed few.
 */
enum { USER_NAMESPACE, MOUNT_NAMESPACE, NAMESPACES };

/* What every command of a policy is given, made once. */
struct policy {
	int used;
	u32 id;
	/* -1 for a template: its commands are confined by namespaces. */
	int ruleset;
	int is_template;
	int namespaces[NAMESPACES];
	u32 shares_network;
	u32 vets;
	u32 instruction_count;
	u64 instructions[MAX_INSTRUCTIONS];
	u32 root_count;
	int roots[MAX_ROOTS];
};

/* policy.c */
i32 landlock_version(void);
long make_policy(u32 id, const struct policy_request *request, u32 *skipped);
const struct policy *find_policy(u32 id);
void forget_policy(u32 id);
struct policy *unused_policy(void);

/* template.c: the file system that commands in namespaces begin with. `failed` says which mount did not work, from 1. */
long make_template(u32 id, const struct template_request *request, u32 *failed);

/* pipes.c: a slot is a pipe that waits for a command; it serves one only. */
enum pipe_end { READ_END = 0, WRITE_END = 1 };
struct slot_names {
	u32 slot, read_end, write_end;
};
long make_pipe(struct slot_names *names);
int slot_descriptor(i32 slot, enum pipe_end end);
void close_slot(i32 slot);

/* commands.c: what the helper knows of the commands that run. */
void start_command(u32 id, const struct run_request *request);
void kill_command(u32 id);
void reap_children(void);
/* Milliseconds until something is due, or -1. */
i32 look_after_commands(void);

/* supervise.c: the life of one supervisor. */
struct supervision {
	u32 id;
	int helper;
	const struct run_request *request;
	const struct policy *policy;
	/* Counts up as long as the supervisor is not stuck. Shared with the helper. */
	volatile u32 *beat;
};
__attribute__((noreturn)) void supervise(const struct supervision *supervision);

/* namespaces.c: the first process of a command's namespaces, which makes its mounts, starts it and outlives it. */
struct inside {
	/* Why the command was not started; `mount` says at which step of the list, from 1. */
	volatile u32 step, errno_, mount;
	/* How the command ended, as `wait` says it. */
	volatile int has_ended, status;
	/* Whether processes that it had started were still there. */
	volatile int left_behind;
};
/*
 * Enters the namespaces for good. `forwarder` is sent the listening socket of the command's network; -1: none. The number
 * of the first process, or minus an errno.
 */
long start_inside(const struct supervision *supervision, const int *groups, int forwarder, struct inside *inside);

/* forward.c: from a port of the loopback device to a unix socket, until `until` can be read. Never returns for -1. */
int listen_on_loopback(u32 port);
void forward_connections(int listener, const char *path, int until);

/* forward-process.c: `socket` takes the descriptor that it listens with. The number of its process, or minus an errno. */
long start_forwarder(const char *path, int *socket);
long send_descriptor(int socket, int descriptor);
/*
 * `confine forward`: forwards as the parent of a command, and ends as it does. Writes to the descriptor `failed` when the
 * command could not be started.
 */
int run_forward(const char *path, const char *port, const char *failed, const char **arguments,
		const char **variables);

/* connect.c: `confine connect`, the way of programs that know no proxy. */
int run_connect(const char *host, const char *port, const char **variables);

/* command.c: the last steps of a process before it is the command; shares memory with its supervisor. */
struct becoming {
	const struct run_request *request;
	const struct policy *policy;
	/* The process that starts it. */
	int parent;
	/* Open already: the working directory, and the files by which it enters control groups. */
	int directory;
	const int *groups;
	/* Out: why it never was the command, and where its calls to judge come from. */
	u32 step;
	u32 errno_;
	int calls;
};
int become_command(void *becoming);
/* As a shell looks for a program. Returns only to fail. */
long execute(const char **arguments, const char **variables);
long open_groups(const struct run_request *request, int *groups);

/* privileges.c */
long drop_capabilities(void);

/* signals.c */
enum { SIGNAL_CHILD = 1, SIGNAL_KILL = 2 };
long block_signals(void);
long allow_signals(void);
u32 read_signals(void);

/* wait.c */
enum { POLLIN = 1, POLLERR = 8, POLLHUP = 16 };
struct pollfd {
	i32 fd;
	short events, revents;
};
long poll_for(struct pollfd *watched, size_t count, i32 milliseconds);
u64 milliseconds_now(void);
/* Sends SIGKILL to every child that `spares` does not spare. How many, or minus an errno. */
long kill_children(int (*spares)(u32 process));
int finds_children(void);
/* The parent of a process, or minus an errno. */
long parent_of(u32 process);

#endif
