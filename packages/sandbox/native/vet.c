/* Receives the calls of a command that need a judge, and answers them. */
#include "vet.h"

enum { RECEIVE = 0xc0502100, ANSWER = 0xc0182101, STILL_WAITS = 0x40082102, SET_FLAGS = 0x40082104 };
enum { SYNCHRONOUS_WAKE_UP = 1, GOES_ON = 1, MAX_REPORTED = 50, MAX_WHAT = 2048, PAGE = 4096 };

struct notification {
	u64 cookie;
	u32 task, flags;
	i32 number;
	u32 architecture;
	u64 instruction;
	u64 arguments[6];
};
_Static_assert(sizeof(struct notification) == 80, "as the kernel defines it");

struct answer {
	u64 cookie;
	i64 value;
	i32 error;
	u32 flags;
};
_Static_assert(sizeof(struct answer) == 24, "as the kernel defines it");

static u32 command_id, vetted, refusals;
static char what_was_refused[MAX_WHAT];

void prepare_vetting(u32 id, u32 root_count)
{
	command_id = id;
	judge_in(root_count);
	/* The command waits for us anyway. Kernels that do not know it refuse it. */
	CALL(ioctl, FD_CALLS, SET_FLAGS, SYNCHRONOUS_WAKE_UP);
}

u32 vetted_calls(void)
{
	return vetted;
}

u32 refused_calls(void)
{
	return refusals;
}

/* A task that was killed gives its number away: what was read by that number counts only if it still waits afterwards. */
int still_waits(const struct vetted_call *call)
{
	return CALL(ioctl, FD_CALLS, STILL_WAITS, &call->cookie) == 0;
}

struct verdict refused(const char *what)
{
	size_t length = length_of(what);
	if (length >= MAX_WHAT)
		length = MAX_WHAT - 1;
	memcpy(what_was_refused, what, length);
	what_was_refused[length] = 0;
	return (struct verdict){ 0, -EPERM, 1 };
}

long copy_from(const struct vetted_call *call, u64 address, void *to, size_t length)
{
	struct {
		void *base;
		size_t length;
	} local = { to, length }, remote = { (void *)address, length };
	long got = CALL(process_vm_readv, call->task, &local, 1, &remote, 1, 0);
	if (got < 0)
		return got;
	return (size_t)got == length ? 0 : -EFAULT;
}

/* Page by page: what lies behind the end of a text may not be readable. */
long copy_text_from(const struct vetted_call *call, u64 address, char *to, size_t size)
{
	size_t done = 0;
	while (done < size) {
		size_t length = PAGE - (address + done) % PAGE;
		if (length > size - done)
			length = size - done;
		long result = copy_from(call, address + done, to + done, length);
		if (result < 0)
			return result;
		for (size_t end = done + length; done < end; done++)
			if (to[done] == 0)
				return 0;
	}
	return -ENAMETOOLONG;
}

static void report(const struct vetted_call *call)
{
	u32 number = (u32)call->number;
	if (++refusals > MAX_REPORTED)
		return;
	send_frame(FD_SOCKET, FRAME_VIOLATION, command_id, &number, 1, what_was_refused, length_of(what_was_refused) + 1);
}

void vet_one_call(void)
{
	struct notification notification;
	memset(&notification, 0, sizeof(notification));
	if (CALL(ioctl, FD_CALLS, RECEIVE, &notification) < 0)
		return;
	vetted++;
	struct vetted_call call = { notification.cookie, notification.task, notification.number, { 0 } };
	memcpy(call.arguments, notification.arguments, sizeof(call.arguments));
	judge *decide = metadata_judge(call.number);
	if (decide == NULL)
		decide = connect_judge(call.number);
	if (decide == NULL)
		decide = process_judge(call.number);
	if (decide == NULL)
		decide = absent_judge(call.number);
	struct verdict verdict = decide == NULL ? refused("") : decide(&call);
	if (verdict.is_violation)
		report(&call);
	struct answer answer = { call.cookie, 0, (i32)verdict.result, verdict.goes_on ? GOES_ON : 0 };
	CALL(ioctl, FD_CALLS, ANSWER, &answer);
}
