/*
 * Calls that never work under Landlock, since the kernel has no separate network and no separate shared objects for a
 * command. They are refused whatever they ask for; we only remember which kind was tried, for the hint in the result.
 */
#include "vet.h"

enum { AF_UNIX = 1, AF_INET = 2, AF_INET6 = 10, SOCK_DGRAM = 2, KIND_BITS = 15 };

struct absent {
	i32 number;
	enum absent_kind kind;
};

static const struct absent calls[] = {
#if defined(__x86_64__)
	{ 41, ABSENT_NETWORK },   /* socket */
	{ 53, ABSENT_DATAGRAMS }, /* socketpair */
	{ 29, ABSENT_SHARED },    /* shmget */
	{ 30, ABSENT_SHARED },    /* shmat */
	{ 31, ABSENT_SHARED },    /* shmctl */
	{ 67, ABSENT_SHARED },    /* shmdt */
	{ 64, ABSENT_SHARED },    /* semget */
	{ 65, ABSENT_SHARED },    /* semop */
	{ 220, ABSENT_SHARED },   /* semtimedop */
	{ 66, ABSENT_SHARED },    /* semctl */
	{ 68, ABSENT_SHARED },    /* msgget */
	{ 69, ABSENT_SHARED },    /* msgsnd */
	{ 70, ABSENT_SHARED },    /* msgrcv */
	{ 71, ABSENT_SHARED },    /* msgctl */
	{ 240, ABSENT_SHARED },   /* mq_open */
	{ 241, ABSENT_SHARED },   /* mq_unlink */
#else
	{ 198, ABSENT_NETWORK },   /* socket */
	{ 199, ABSENT_DATAGRAMS }, /* socketpair */
	{ 194, ABSENT_SHARED },    /* shmget */
	{ 196, ABSENT_SHARED },    /* shmat */
	{ 195, ABSENT_SHARED },    /* shmctl */
	{ 197, ABSENT_SHARED },    /* shmdt */
	{ 190, ABSENT_SHARED },    /* semget */
	{ 193, ABSENT_SHARED },    /* semop */
	{ 192, ABSENT_SHARED },    /* semtimedop */
	{ 191, ABSENT_SHARED },    /* semctl */
	{ 186, ABSENT_SHARED },    /* msgget */
	{ 189, ABSENT_SHARED },    /* msgsnd */
	{ 188, ABSENT_SHARED },    /* msgrcv */
	{ 187, ABSENT_SHARED },    /* msgctl */
	{ 180, ABSENT_SHARED },    /* mq_open */
	{ 181, ABSENT_SHARED },    /* mq_unlink */
#endif
};

static u32 tried;

u32 absent_calls(void)
{
	return tried;
}

static const struct absent *absent_call(i32 number)
{
	for (size_t index = 0; index < ARRAY_LENGTH(calls); index++)
		if (calls[index].number == number)
			return &calls[index];
	return NULL;
}

/* 0 for a socket that says nothing of what the command wanted: programs ask for many families only to see. */
static u32 kind_of_socket(const struct vetted_call *call)
{
	u32 family = (u32)call->arguments[0];
	if (family == AF_INET || family == AF_INET6)
		return ABSENT_NETWORK;
	if (family != AF_UNIX)
		return 0;
	return (call->arguments[1] & KIND_BITS) == SOCK_DGRAM ? ABSENT_DATAGRAMS : ABSENT_UNIX;
}

static struct verdict judge_absent(const struct vetted_call *call)
{
	const struct absent *absent = absent_call(call->number);
	if (absent == NULL || absent->kind != ABSENT_SHARED) {
		tried |= kind_of_socket(call);
		return (struct verdict){ 0, -EACCES, 0 };
	}
	tried |= ABSENT_SHARED;
	return (struct verdict){ 0, -ENOSYS, 0 };
}

judge *absent_judge(i32 number)
{
	return absent_call(number) == NULL ? NULL : judge_absent;
}
