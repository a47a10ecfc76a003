/*
 * What the helper and the process that started it say to each other: little-endian frames of
 * `u32 length of the rest, u32 type, u32 id` and a payload. Both sides are ours, so a frame that lies ends the helper.
 */
#ifndef CONFINE_FRAMES_H
#define CONFINE_FRAMES_H

#include "sys.h"

enum { PROTOCOL = 4 };

enum { MAX_FRAME = 4 * 1024 * 1024, FRAME_HEAD = 12 };

enum frame_type {
	FRAME_POLICY = 2, FRAME_RUN = 3, FRAME_KILL = 4, FRAME_PIPES = 5, FRAME_FORGET = 6,
	FRAME_TEMPLATE = 7,
	FRAME_HELLO = 101, FRAME_POLICY_MADE = 102, FRAME_STARTED = 103, FRAME_EXITED = 104, FRAME_PIPES_MADE = 105,
	FRAME_FAILED = 106, FRAME_VIOLATION = 107,
};

/* Why a command was not started. */
enum start_step {
	STEP_FORK = 1, STEP_DIRECTORY = 2, STEP_LIMIT = 3, STEP_PRIVILEGES = 4, STEP_LANDLOCK = 5, STEP_SECCOMP = 6,
	STEP_DESCRIPTORS = 7, STEP_EXEC = 8, STEP_REQUEST = 9, STEP_NAMESPACE = 10,
};

/* Counts above these are refused with an error of their own, or end the helper where only a lie explains them. */
enum { MAX_RULES = 1024, MAX_PORTS = 64, MAX_INSTRUCTIONS = 2048, MAX_LIMITS = 16, MAX_GROUPS = 4, MAX_STRINGS = 262144,
       MAX_MOUNTS = 4096 };

struct frame {
	u32 type;
	u32 id;
	const u8 *payload;
	size_t length;
};

/* One place that commands may use. The path belongs to the frame. */
struct policy_rule {
	u64 rights;
	u32 is_root;
	const char *path;
};

struct policy_port {
	u64 rights;
	u64 port;
};

struct policy_request {
	u64 file_rights, network_rights, scopes;
	u32 vets;
	u32 rule_count, port_count, instruction_count;
	struct policy_rule rules[MAX_RULES];
	struct policy_port ports[MAX_PORTS];
	/* As the kernel reads them, 8 bytes each, and aligned for it. */
	u64 instructions[MAX_INSTRUCTIONS];
};

/* One step of what a command sees as its file system; mount-tree.c says what each does. */
enum mount_kind {
	MOUNT_DIRECTORY = 1, MOUNT_LINK = 2, MOUNT_MEMORY = 3, MOUNT_PLACE = 4, MOUNT_PROCESSES = 5, MOUNT_TERMINALS = 6,
	MOUNT_PIN = 7, MOUNT_PROTECT = 8, MOUNT_HIDE = 9, MOUNT_SEAL = 10,
};
/* How a place is mounted: the `mode` of MOUNT_PLACE. */
enum { PLACE_READ_ONLY = 1, PLACE_IS_DEVICE = 2, PLACE_IS_OPTIONAL = 4 };

/* Which file a name meant when it was looked at. Nothing is compared where both are 0. */
struct identity {
	u64 device, inode;
};

struct mount_request {
	u32 kind, mode;
	/* In bytes. */
	u64 size;
	struct identity identity;
	const char *from, *to;
};

/* A file system for all commands of a policy, and their filter. */
struct template_request {
	u32 mount_count, instruction_count;
	/* Commands use the network of the machine. */
	u32 shares_network;
	struct mount_request mounts[MAX_MOUNTS];
	u64 instructions[MAX_INSTRUCTIONS];
};

struct command_limit {
	u32 resource;
	u64 soft, hard;
};

struct run_request {
	u32 policy;
	i32 slots[3];
	u32 limit_count, group_count, mount_count, argument_count, variable_count;
	struct command_limit limits[MAX_LIMITS];
	const char *groups[MAX_GROUPS];
	const char *directory;
	/* The unix socket of the command's proxy, and where it is reached inside; empty: no network. */
	const char *proxy;
	u32 proxy_port;
	struct identity directory_identity;
	/* On top of those of a template. */
	struct mount_request mounts[MAX_MOUNTS];
	/* Arguments, NULL, variables, NULL. */
	const char *strings[MAX_STRINGS + 2];
	const char **arguments, **variables;
};

/* What became of a look for a frame, or of its contents. */
enum decoded { DECODED = 0, INCOMPLETE = 1, TOO_MUCH = 2, LIE = 3 };

/* Finds the first frame of `bytes`. INCOMPLETE: more must come. LIE: no such frame exists. */
enum decoded find_frame(const u8 *bytes, size_t length, struct frame *frame);
enum decoded decode_policy(const struct frame *frame, struct policy_request *policy);
enum decoded decode_template(const struct frame *frame, struct template_request *template);
/* TOO_MUCH: more arguments and variables than MAX_STRINGS. */
enum decoded decode_run(const struct frame *frame, struct run_request *run);
enum decoded decode_number(const struct frame *frame, u32 *number);

/* Sends one frame of numbers, and of bytes after them; in one piece, since it is short. 0, or minus an errno. */
long send_frame(int socket, enum frame_type type, u32 id, const u32 *numbers, size_t count, const void *bytes,
		size_t length);

#endif
