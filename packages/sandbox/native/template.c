/*
 * The file system that all commands of a policy begin with, and the namespaces that it lives in. A process of its own
 * builds it; the helper keeps the namespaces, and that process ends.
 */
#include "mount.h"
#include "text.h"

enum { CLONE_NEWNS = 0x20000, CLONE_NEWUSER = 0x10000000 };
enum { MS_REC = 0x4000, MS_PRIVATE = 0x40000, MNT_DETACH = 2, PR_SET_PDEATHSIG = 1, WALL = 0x40000000 };
enum { BUILD_MS = 10000, TREE_BYTES = 16 * 1024 * 1024, READ_END_OF_PIPE = 0, WRITE_END_OF_PIPE = 1 };

/* What the builder says when it is done. */
struct report {
	i32 result;
	u32 failed;
};

static long write_file(const char *path, const char *contents)
{
	int file = (int)CALL(openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0);
	if (file < 0)
		return file;
	long written = CALL(write, file, contents, length_of(contents));
	CALL(close, file);
	return written < 0 ? written : 0;
}

/* One number that means the same inside and outside. */
static long write_map(const char *path, u32 number)
{
	struct text line;
	text_clear(&line);
	text_add_number(&line, number);
	text_add(&line, " ");
	text_add_number(&line, number);
	text_add(&line, " 1");
	return write_file(path, line.bytes);
}

static long become_user(void)
{
	u32 user = (u32)CALL(geteuid), group = (u32)CALL(getegid);
	long result = CALL(unshare, CLONE_NEWUSER);
	if (result == 0)
		result = write_file("/proc/self/setgroups", "deny");
	if (result == 0)
		result = write_map("/proc/self/uid_map", user);
	if (result == 0)
		result = write_map("/proc/self/gid_map", group);
	/* Besides the filter of commands, which refuses them too. A container may not let us write it. */
	write_file("/proc/sys/user/max_user_namespaces", "0");
	return result;
}

/* Makes the new tree the root, and lets go of the old one. */
static long change_root(void)
{
	int tree = memory_tree(TREE_BYTES, 0755);
	if (tree < 0)
		return tree;
	int cover = open_name("/proc", 0);
	long result = cover < 0 ? cover : attach(tree, cover);
	if (result == 0)
		result = CALL(fchdir, tree);
	if (result == 0)
		result = CALL(pivot_root, ".", ".");
	/* The old root lies on top now. */
	if (result == 0)
		result = CALL(umount2, ".", MNT_DETACH);
	CALL(close, tree);
	return result;
}

static long build(const struct template_request *request, u32 *failed)
{
	long result = become_user();
	if (result == 0)
		result = CALL(unshare, CLONE_NEWNS);
	if (result == 0)
		result = CALL(mount, NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
	if (result == 0)
		result = take_places(request->mounts, request->mount_count, failed);
	if (result == 0)
		result = change_root();
	CALL(umask, 0);
	return result < 0 ? result : make_tree(request->mounts, request->mount_count, failed);
}

__attribute__((noreturn)) static void run_builder(const struct template_request *request, int answers, int helper)
{
	struct report report = { 0, 0 };
	CALL(prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (CALL(getppid) != helper)
		leave(1);
	report.result = (i32)build(request, &report.failed);
	CALL(write, answers, &report, sizeof(report));
	/* Until the helper holds the namespaces and kills us. */
	for (;;)
		poll_for(NULL, 0, -1);
}

static long hold_namespaces(u32 builder, struct policy *policy)
{
	static const char *const names[NAMESPACES] = { "/ns/user", "/ns/mnt" };
	struct text path;
	for (size_t index = 0; index < NAMESPACES; index++) {
		proc_path(&path, builder, names[index], -1);
		int held = (int)CALL(openat, AT_FDCWD, path.bytes, O_RDONLY | O_CLOEXEC, 0);
		if (held < 0) {
			while (index-- > 0)
				CALL(close, policy->namespaces[index]);
			return held;
		}
		policy->namespaces[index] = held;
	}
	return 0;
}

static long read_report(int answers, struct report *report)
{
	struct pollfd watched = { answers, POLLIN, 0 };
	/* A file system that does not answer must not stop all other commands for ever. */
	if (poll_for(&watched, 1, BUILD_MS) <= 0)
		return -ETIMEDOUT;
	long got = CALL(read, answers, report, sizeof(*report));
	return got == sizeof(*report) ? report->result : -ECHILD;
}

static long build_apart(const struct template_request *request, struct policy *policy, u32 *failed)
{
	struct report report = { 0, 0 };
	int pipe[2];
	long result = CALL(pipe2, pipe, O_CLOEXEC);
	if (result < 0)
		return result;
	int helper = (int)CALL(getpid);
	long builder = CALL(clone, SIGCHLD);
	if (builder == 0)
		run_builder(request, pipe[WRITE_END_OF_PIPE], helper);
	CALL(close, pipe[WRITE_END_OF_PIPE]);
	result = builder < 0 ? builder : read_report(pipe[READ_END_OF_PIPE], &report);
	if (result == 0)
		result = hold_namespaces((u32)builder, policy);
	*failed = report.failed;
	CALL(close, pipe[READ_END_OF_PIPE]);
	if (builder > 0) {
		CALL(kill, builder, SIGKILL);
		/* One that the kernel cannot end yet is reaped with all other children. */
		CALL(wait4, builder, NULL, result == -ETIMEDOUT ? WALL | 1 /* WNOHANG */ : WALL, NULL);
	}
	return result;
}

long make_template(u32 id, const struct template_request *request, u32 *failed)
{
	*failed = 0;
	forget_policy(id);
	struct policy *policy = unused_policy();
	if (policy == NULL)
		return -EAGAIN;
	long result = build_apart(request, policy, failed);
	if (result < 0)
		return result;
	policy->used = 1;
	policy->id = id;
	policy->ruleset = -1;
	policy->is_template = 1;
	policy->shares_network = request->shares_network;
	policy->vets = 0;
	policy->root_count = 0;
	policy->instruction_count = request->instruction_count;
	memcpy(policy->instructions, request->instructions, request->instruction_count * sizeof(u64));
	return 0;
}
