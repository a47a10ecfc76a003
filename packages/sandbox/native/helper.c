/* The helper: reads frames and signals, one at a time, until the process that started it lets go of the socket. */
#include "confine.h"

enum { PR_SET_CHILD_SUBREAPER = 36, MSG_DONTWAIT = 0x40, MADV_DONTNEED = 4, LARGE = 64 * 1024, BROKEN = 125 };
enum { FINDS_CHILDREN = 1 };

static u8 inbox[4 + MAX_FRAME] __attribute__((aligned(4096)));
static size_t received;
static struct policy_request policy_request;
static struct template_request template_request;
static struct run_request run_request;

#ifndef SOURCE_HASH
#error "build.sh gives the SHA-256 of the sources"
#endif
const u8 source_hash[32] = { SOURCE_HASH };

__attribute__((noreturn)) static void give_up(const char *reason, size_t length)
{
	CALL(write, 2, reason, length);
	leave(BROKEN);
}
#define GIVE_UP(reason) give_up(reason "\n", sizeof(reason))

static void answer_policy(const struct frame *frame)
{
	u32 answer[2] = { 0, 0 };
	enum decoded decoded = decode_policy(frame, &policy_request);
	if (decoded == LIE)
		GIVE_UP("a policy that cannot be read");
	long result = decoded == TOO_MUCH ? -E2BIG : make_policy(frame->id, &policy_request, &answer[1]);
	answer[0] = (u32)-result;
	send_frame(FD_SOCKET, FRAME_POLICY_MADE, frame->id, answer, 2, NULL, 0);
}

/* In the same words as for a policy: the number of the mount that did not work is where skipped rules are counted. */
static void answer_template(const struct frame *frame)
{
	u32 answer[2] = { 0, 0 };
	enum decoded decoded = decode_template(frame, &template_request);
	if (decoded == LIE)
		GIVE_UP("a template that cannot be read");
	long result = decoded == TOO_MUCH ? -E2BIG : make_template(frame->id, &template_request, &answer[1]);
	answer[0] = (u32)-result;
	send_frame(FD_SOCKET, FRAME_POLICY_MADE, frame->id, answer, 2, NULL, 0);
}

static void answer_pipes(const struct frame *frame)
{
	struct slot_names names[MAX_SLOTS];
	u32 wanted = 0, made = 0;
	if (decode_number(frame, &wanted) != DECODED)
		GIVE_UP("a number of pipes that cannot be read");
	while (made < wanted && made < MAX_SLOTS / 2 && make_pipe(&names[made]) == 0)
		made++;
	send_frame(FD_SOCKET, FRAME_PIPES_MADE, frame->id, (const u32 *)names, 3 * (size_t)made, NULL, 0);
}

static void answer_run(const struct frame *frame)
{
	enum decoded decoded = decode_run(frame, &run_request);
	if (decoded == LIE)
		GIVE_UP("a command that cannot be read");
	if (decoded == TOO_MUCH) {
		u32 failure[3] = { STEP_REQUEST, E2BIG, 0 };
		for (size_t index = 0; index < 3; index++)
			close_slot(run_request.slots[index]);
		send_frame(FD_SOCKET, FRAME_FAILED, frame->id, failure, 3, NULL, 0);
		return;
	}
	start_command(frame->id, &run_request);
}

static void obey(const struct frame *frame)
{
	switch (frame->type) {
	case FRAME_POLICY:
		return answer_policy(frame);
	case FRAME_TEMPLATE:
		return answer_template(frame);
	case FRAME_RUN:
		return answer_run(frame);
	case FRAME_PIPES:
		return answer_pipes(frame);
	case FRAME_KILL:
		return kill_command(frame->id);
	case FRAME_FORGET:
		return forget_policy(frame->id);
	default:
		GIVE_UP("a frame of an unknown type");
	}
}

static void obey_what_came(void)
{
	size_t done = 0;
	for (;;) {
		struct frame frame = { 0, 0, NULL, 0 };
		enum decoded decoded = find_frame(inbox + done, received - done, &frame);
		if (decoded == LIE)
			GIVE_UP("bytes that are no frame");
		if (decoded != DECODED)
			break;
		obey(&frame);
		done += FRAME_HEAD + frame.length;
	}
	if (done > 0)
		memmove(inbox, inbox + done, received - done);
	received -= done;
	/* A long command line is over: its memory need not stay with us. */
	if (received == 0 && done > LARGE)
		CALL(madvise, inbox, sizeof(inbox), MADV_DONTNEED);
}

static void receive(void)
{
	long got = CALL(recvfrom, FD_SOCKET, inbox + received, sizeof(inbox) - received, MSG_DONTWAIT, NULL, NULL);
	if (got == -EAGAIN || got == -EINTR)
		return;
	/* The end of the socket: supervisors get SIGTERM by our death, and kill what they have. */
	if (got <= 0)
		leave(0);
	received += (size_t)got;
	obey_what_came();
}

static int prepare(void)
{
	CALL(setsid);
	if (CALL(prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0 || block_signals() < 0)
		return 0;
	if (CALL(openat, AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC, 0) != FD_NULL)
		return 0;
	/* Keeps the numbers that supervisors use for descriptors of their own free of all others. */
	for (int number = FD_NULL + 1; number < FD_FIRST_FREE; number++)
		if (CALL(dup3, FD_NULL, number, O_CLOEXEC) < 0)
			return 0;
	return CALL(fcntl, FD_SOCKET, 2 /* F_SETFD */, 1 /* FD_CLOEXEC */) == 0;
}

int run_helper(void)
{
	/* Whatever else was open when we were started is not ours. */
	CALL(close_range, FD_SOCKET + 1, ~0U, 0);
	if (!prepare())
		GIVE_UP("cannot prepare");
	u32 hello[3] = { PROTOCOL, (u32)landlock_version(), 0 };
	if (finds_children())
		hello[2] |= FINDS_CHILDREN;
	send_frame(FD_SOCKET, FRAME_HELLO, 0, hello, 3, source_hash, sizeof(source_hash));
	for (;;) {
		struct pollfd watched[2] = { { FD_SOCKET, POLLIN, 0 }, { FD_SIGNALS, POLLIN, 0 } };
		poll_for(watched, 2, look_after_commands());
		if (watched[1].revents != 0) {
			read_signals();
			reap_children();
		}
		if (watched[0].revents != 0)
			receive();
	}
}
