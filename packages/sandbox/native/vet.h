/*
 * Judging calls on behalf of a command. The rule of all of it: what a pointer leads to is copied once, the object is held
 * by a descriptor of ours, judged by where it really lies, and the change is made on that descriptor by us. The command's
 * own call never goes on if it has a pointer, since another thread could change what it leads to.
 */
#ifndef CONFINE_VET_H
#define CONFINE_VET_H

#include "confine.h"
#include "text.h"

/* One call that waits for our answer. */
struct vetted_call {
	u64 cookie;
	u32 task;
	i32 number;
	u64 arguments[6];
};

struct verdict {
	/* The call goes on as it was made. Only for calls all of whose meaning is in registers. */
	int goes_on;
	/* 0 or minus an errno. */
	long result;
	/* It is a rule that refused it, so the result of the command will name it. */
	int is_violation;
};

/* supervise.c asks these. */
void prepare_vetting(u32 id, u32 root_count);
void vet_one_call(void);
u32 vetted_calls(void);
u32 refused_calls(void);

/* vet.c, for the judges. */
int still_waits(const struct vetted_call *call);
struct verdict refused(const char *what);
long copy_from(const struct vetted_call *call, u64 address, void *to, size_t length);
long copy_text_from(const struct vetted_call *call, u64 address, char *to, size_t size);

/* vet-object.c: which object a call means, and whether it is one that the command may change. */
struct object {
	int descriptor;
	/* Where it really lies, as the kernel says. */
	char place[PATH_SIZE];
	u32 mode;
	u32 links;
};
struct object_name {
	/* A descriptor of the command's, or AT_FDCWD. */
	i32 base;
	/* Empty: the object behind the descriptor itself. */
	const char *path;
	int follows;
};
long hold_object(const struct vetted_call *call, const struct object_name *name, struct object *object);
int may_change(const struct object *object, const struct object_name *name);
void judge_in(u32 root_count);

/* The judges; NULL for a call that is none of theirs. */
typedef struct verdict judge(const struct vetted_call *call);
judge *metadata_judge(i32 number);
judge *connect_judge(i32 number);
judge *process_judge(i32 number);
judge *absent_judge(i32 number);

/* vet-absent.c: which kinds of calls that never work here were tried, as bits. */
enum absent_kind { ABSENT_NETWORK = 1, ABSENT_DATAGRAMS = 2, ABSENT_UNIX = 4, ABSENT_SHARED = 8 };
u32 absent_calls(void);

#endif
