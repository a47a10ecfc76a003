/*
 * From a copy of its parent to the command. Until the last step this process shares the parent's memory, and its table of
 * descriptors where calls are vetted; the parent, a supervisor or the first process inside, waits meanwhile. The order matters: each step takes away
 * what the ones before still needed.
 */
#include "confine.h"
#include "text.h"

enum { PR_SET_PDEATHSIG = 1, PR_SET_NO_NEW_PRIVS = 38 };
enum { SECCOMP_SET_MODE_FILTER = 1, NEW_LISTENER = 8, WAIT_KILLABLE_RECV = 32 };
enum { CLOSE_RANGE_UNSHARE = 2, FIRST_AFTER_STANDARD = 3, NO_DESCRIPTOR = 0x7ffffff0 };

static int fail(struct becoming *becoming, enum start_step step, long result)
{
	becoming->errno_ = (u32)-result;
	becoming->step = step;
	return 127;
}

/* By the supervisor: where the command is started, these names may lead nowhere. */
long open_groups(const struct run_request *request, int *groups)
{
	for (u32 index = 0; index < request->group_count; index++) {
		groups[index] = (int)CALL(openat, AT_FDCWD, request->groups[index], O_WRONLY | O_CLOEXEC, 0);
		if (groups[index] < 0)
			return groups[index];
	}
	return 0;
}

static long enter_groups(const struct becoming *becoming)
{
	for (u32 index = 0; index < becoming->request->group_count; index++) {
		long written = CALL(write, becoming->groups[index], "0", 1);
		if (written < 0)
			return written;
	}
	return 0;
}

static long set_limits(const struct run_request *request)
{
	for (u32 index = 0; index < request->limit_count; index++) {
		const struct command_limit *limit = &request->limits[index];
		u64 bounds[2] = { limit->soft, limit->hard };
		long result = CALL(prlimit64, 0, limit->resource, bounds, NULL);
		if (result < 0)
			return result;
	}
	return 0;
}

static long load_filter(struct becoming *becoming)
{
	const struct policy *policy = becoming->policy;
	struct {
		u16 length;
		const void *instructions;
	} program = { (u16)policy->instruction_count, policy->instructions };
	if (!policy->vets)
		return CALL(seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
	long calls = CALL(seccomp, SECCOMP_SET_MODE_FILTER, NEW_LISTENER | WAIT_KILLABLE_RECV, &program);
	if (calls == -EINVAL)
		calls = CALL(seccomp, SECCOMP_SET_MODE_FILTER, NEW_LISTENER, &program);
	if (calls < 0)
		return calls;
	becoming->calls = (int)calls;
	return 0;
}

/* Standard input, output and errors, and nothing else; in a table of our own from here on. */
static long set_descriptors(const struct run_request *request)
{
	int wanted[3] = {
		request->slots[0] < 0 ? FD_NULL : slot_descriptor(request->slots[0], READ_END),
		request->slots[1] < 0 ? FD_NULL : slot_descriptor(request->slots[1], WRITE_END),
		0,
	};
	wanted[2] = request->slots[2] < 0 ? wanted[1] : slot_descriptor(request->slots[2], WRITE_END);
	/* Closes nothing: no descriptor has such a number. */
	long result = CALL(close_range, NO_DESCRIPTOR, ~0U, CLOSE_RANGE_UNSHARE);
	for (int index = 0; index < 3 && result >= 0; index++)
		result = wanted[index] < 0 ? wanted[index] : CALL(dup3, wanted[index], index, 0);
	return result < 0 ? result : CALL(close_range, FIRST_AFTER_STANDARD, ~0U, 0);
}

static const char *search_path(const char **variables)
{
	for (const char **variable = variables; *variable != NULL; variable++)
		if (starts_with(*variable, "PATH="))
			return *variable + 5;
	return "/bin:/usr/bin";
}

/* As a shell looks for a program: the first that can be started, else the most telling reason. Returns only to fail. */
long execute(const char **arguments, const char **variables)
{
	const char *name = arguments[0];
	long refused = -ENOENT;
	for (const char *at = name; *at != 0; at++)
		if (*at == '/')
			return CALL(execve, name, arguments, variables);
	if (name[0] == 0)
		return -ENOENT;
	for (const char *at = search_path(variables);;) {
		static struct text file;
		text_clear(&file);
		for (; *at != 0 && *at != ':'; at++) {
			char letter[2] = { *at, 0 };
			text_add(&file, letter);
		}
		text_add(&file, file.length == 0 ? "./" : "/");
		text_add(&file, name);
		long result = file.overflow ? -ENAMETOOLONG :
			CALL(execve, file.bytes, arguments, variables);
		if (result != -ENOENT && result != -ENOTDIR && result != -EACCES && result != -ENAMETOOLONG)
			return result;
		if (result == -EACCES)
			refused = result;
		if (*at++ == 0)
			return refused;
	}
}

int become_command(void *argument)
{
	struct becoming *becoming = argument;
	const struct run_request *request = becoming->request;
	long result;
	CALL(setsid);
	if ((result = CALL(fchdir, becoming->directory)) < 0)
		return fail(becoming, STEP_DIRECTORY, result);
	if ((result = enter_groups(becoming)) < 0 || (result = set_limits(request)) < 0)
		return fail(becoming, STEP_LIMIT, result);
	if ((result = CALL(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) < 0 || (result = drop_capabilities()) < 0)
		return fail(becoming, STEP_PRIVILEGES, result);
	/* After the change of credentials, which clears it. */
	if ((result = CALL(prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)) < 0)
		return fail(becoming, STEP_PRIVILEGES, result);
	if (CALL(getppid) != becoming->parent)
		return fail(becoming, STEP_PRIVILEGES, -ESRCH);
	if (!becoming->policy->is_template &&
	    (result = CALL(landlock_restrict_self, becoming->policy->ruleset, 0)) < 0)
		return fail(becoming, STEP_LANDLOCK, result);
	if ((result = load_filter(becoming)) < 0)
		return fail(becoming, STEP_SECCOMP, result);
	if ((result = set_descriptors(request)) < 0)
		return fail(becoming, STEP_DESCRIPTORS, result);
	if ((result = allow_signals()) < 0)
		return fail(becoming, STEP_DESCRIPTORS, result);
	return fail(becoming, STEP_EXEC, execute(request->arguments, request->variables));
}
