/*
 * Calls that reach other processes by their number: signals on kernels whose Landlock has no scope for them, limits and
 * priorities on all. Their meaning is in registers, so a call that is allowed goes on as it was made.
 */
#include "vet.h"

enum { MAX_GENERATIONS = 4096, WHO_GROUP = 1, IO_WHO_PROCESS = 1, IO_WHO_GROUP = 2 };
enum target { PROCESS, PROCESS_OR_GROUP, SECOND_PROCESS, BY_WHO, BY_IO_WHO };

static const struct {
	i32 number;
	enum target target;
} calls[] = {
#if defined(__x86_64__)
	{ 302, PROCESS },          /* prlimit64 */
	{ 203, PROCESS },          /* sched_setaffinity */
	{ 144, PROCESS },          /* sched_setscheduler */
	{ 142, PROCESS },          /* sched_setparam */
	{ 314, PROCESS },          /* sched_setattr */
	{ 141, BY_WHO },           /* setpriority */
	{ 251, BY_IO_WHO },        /* ioprio_set */
	{ 62, PROCESS_OR_GROUP },  /* kill */
	{ 200, PROCESS },          /* tkill */
	{ 234, SECOND_PROCESS },   /* tgkill */
	{ 129, PROCESS },          /* rt_sigqueueinfo */
	{ 297, SECOND_PROCESS },   /* rt_tgsigqueueinfo */
#else
	{ 261, PROCESS },          /* prlimit64 */
	{ 122, PROCESS },          /* sched_setaffinity */
	{ 119, PROCESS },          /* sched_setscheduler */
	{ 118, PROCESS },          /* sched_setparam */
	{ 274, PROCESS },          /* sched_setattr */
	{ 140, BY_WHO },           /* setpriority */
	{ 30, BY_IO_WHO },         /* ioprio_set */
	{ 129, PROCESS_OR_GROUP }, /* kill */
	{ 130, PROCESS },          /* tkill */
	{ 131, SECOND_PROCESS },   /* tgkill */
	{ 138, PROCESS },          /* rt_sigqueueinfo */
	{ 240, SECOND_PROCESS },   /* rt_tgsigqueueinfo */
#endif
	{ 434, PROCESS },          /* pidfd_open */
};

static int is_ours(i64 process)
{
	long self = CALL(getpid);
	for (int generation = 0; generation < MAX_GENERATIONS && process > 1; generation++) {
		process = parent_of((u32)process);
		if (process == self)
			return 1;
	}
	return 0;
}

/* The command leads a session of its own, so a group whose leader is ours has ours only. */
static int allows(enum target target, const u64 *arguments)
{
	i32 first = (i32)arguments[0], second = (i32)arguments[1];
	switch (target) {
	case PROCESS:
		return first == 0 || is_ours(first);
	case SECOND_PROCESS:
		return is_ours(first) && is_ours(second);
	case PROCESS_OR_GROUP:
		return first == 0 || (first != -1 && is_ours(first < 0 ? -(i64)first : first));
	case BY_WHO:
		return first >= 0 && first <= WHO_GROUP && (second == 0 || is_ours(second));
	case BY_IO_WHO:
		return first >= IO_WHO_PROCESS && first <= IO_WHO_GROUP && (second == 0 || is_ours(second));
	}
	return 0;
}

static struct verdict judge_process(const struct vetted_call *call)
{
	for (size_t index = 0; index < ARRAY_LENGTH(calls); index++)
		if (calls[index].number == call->number && allows(calls[index].target, call->arguments))
			return (struct verdict){ 1, 0, 0 };
	return refused("a process outside");
}

judge *process_judge(i32 number)
{
	for (size_t index = 0; index < ARRAY_LENGTH(calls); index++)
		if (calls[index].number == number)
			return judge_process;
	return NULL;
}
