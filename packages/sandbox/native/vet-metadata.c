/* Modes, owners, times, attributes and, on old kernels, lengths: Landlock has no right for them, so we make the changes. */
#include "vet.h"

enum { SET_USER_ID = 04000, SET_GROUP_ID = 02000, GROUP_EXECUTES = 010, MAX_VALUE = 65536, MAX_NAME = 256 };
enum kind { MODE, OWNER, TIMES_IN_SECONDS, TIMES_IN_MICROSECONDS, TIMES_IN_NANOSECONDS, SET_ATTRIBUTE,
	    REMOVE_ATTRIBUTE, LENGTH };
enum { NONE = -1 };

/* Which argument is what. `rest`: the first of those that say how to change the object. */
struct shape {
	i32 number;
	enum kind kind;
	int base, path, rest, flags;
	int follows;
};

static const struct shape shapes[] = {
#if defined(__x86_64__)
	{ 90, MODE, NONE, 0, 1, NONE, 1 },                    /* chmod */
	{ 91, MODE, 0, NONE, 1, NONE, 1 },                    /* fchmod */
	{ 268, MODE, 0, 1, 2, NONE, 1 },                      /* fchmodat */
	{ 92, OWNER, NONE, 0, 1, NONE, 1 },                   /* chown */
	{ 93, OWNER, 0, NONE, 1, NONE, 1 },                   /* fchown */
	{ 94, OWNER, NONE, 0, 1, NONE, 0 },                   /* lchown */
	{ 260, OWNER, 0, 1, 2, 4, 1 },                        /* fchownat */
	{ 132, TIMES_IN_SECONDS, NONE, 0, 1, NONE, 1 },       /* utime */
	{ 235, TIMES_IN_MICROSECONDS, NONE, 0, 1, NONE, 1 },  /* utimes */
	{ 261, TIMES_IN_MICROSECONDS, 0, 1, 2, NONE, 1 },     /* futimesat */
	{ 280, TIMES_IN_NANOSECONDS, 0, 1, 2, 3, 1 },         /* utimensat */
	{ 188, SET_ATTRIBUTE, NONE, 0, 1, NONE, 1 },          /* setxattr */
	{ 189, SET_ATTRIBUTE, NONE, 0, 1, NONE, 0 },          /* lsetxattr */
	{ 190, SET_ATTRIBUTE, 0, NONE, 1, NONE, 1 },          /* fsetxattr */
	{ 197, REMOVE_ATTRIBUTE, NONE, 0, 1, NONE, 1 },       /* removexattr */
	{ 198, REMOVE_ATTRIBUTE, NONE, 0, 1, NONE, 0 },       /* lremovexattr */
	{ 199, REMOVE_ATTRIBUTE, 0, NONE, 1, NONE, 1 },       /* fremovexattr */
	{ 76, LENGTH, NONE, 0, 1, NONE, 1 },                  /* truncate */
#else
	{ 52, MODE, 0, NONE, 1, NONE, 1 },                    /* fchmod */
	{ 53, MODE, 0, 1, 2, NONE, 1 },                       /* fchmodat */
	{ 55, OWNER, 0, NONE, 1, NONE, 1 },                   /* fchown */
	{ 54, OWNER, 0, 1, 2, 4, 1 },                         /* fchownat */
	{ 88, TIMES_IN_NANOSECONDS, 0, 1, 2, 3, 1 },          /* utimensat */
	{ 5, SET_ATTRIBUTE, NONE, 0, 1, NONE, 1 },            /* setxattr */
	{ 6, SET_ATTRIBUTE, NONE, 0, 1, NONE, 0 },            /* lsetxattr */
	{ 7, SET_ATTRIBUTE, 0, NONE, 1, NONE, 1 },            /* fsetxattr */
	{ 14, REMOVE_ATTRIBUTE, NONE, 0, 1, NONE, 1 },        /* removexattr */
	{ 15, REMOVE_ATTRIBUTE, NONE, 0, 1, NONE, 0 },        /* lremovexattr */
	{ 16, REMOVE_ATTRIBUTE, 0, NONE, 1, NONE, 1 },        /* fremovexattr */
	{ 45, LENGTH, NONE, 0, 1, NONE, 1 },                  /* truncate */
#endif
	{ 452, MODE, 0, 1, 2, 3, 1 },                         /* fchmodat2 */
};

static const struct shape *shape_of(i32 number)
{
	for (size_t index = 0; index < ARRAY_LENGTH(shapes); index++)
		if (shapes[index].number == number)
			return &shapes[index];
	return NULL;
}

/* A descriptor that only names its object is refused by most calls; its name in /proc leads to the same object. */
static long change_mode(const struct object *object, u32 mode)
{
	struct text path;
	if ((object->mode & S_IFMT) == S_IFLNK)
		return -EOPNOTSUPP;
	if ((mode & SET_USER_ID) != 0)
		return -EPERM;
	/* A program that runs with the rights of one of the user's groups, for whoever starts it. */
	if ((mode & SET_GROUP_ID) != 0 && (mode & GROUP_EXECUTES) != 0 && (object->mode & S_IFMT) == S_IFREG)
		return -EPERM;
	return CALL(fchmodat, AT_FDCWD, own_descriptor_path(&path, object->descriptor), mode);
}

static long change_times(const struct vetted_call *call, const struct object *object, enum kind kind, u64 address)
{
	i64 given[4] = { 0, 0, 0, 0 };
	if (address == 0)
		return CALL(utimensat, object->descriptor, "", NULL, AT_EMPTY_PATH);
	long result = copy_from(call, address, given, kind == TIMES_IN_SECONDS ? 16 : 32);
	if (result < 0)
		return result;
	if (kind == TIMES_IN_SECONDS) {
		given[2] = given[1];
		given[1] = given[3] = 0;
	} else if (kind == TIMES_IN_MICROSECONDS) {
		if (given[1] < 0 || given[1] >= 1000000 || given[3] < 0 || given[3] >= 1000000)
			return -EINVAL;
		given[1] *= 1000;
		given[3] *= 1000;
	}
	return CALL(utimensat, object->descriptor, "", given, AT_EMPTY_PATH);
}

/* Only the user's own attributes and lists of access; all others are for the system. */
static long change_attribute(const struct vetted_call *call, const struct object *object, const struct shape *shape)
{
	static u8 value[MAX_VALUE];
	char name[MAX_NAME];
	struct text path;
	const u64 *rest = &call->arguments[shape->rest];
	long result = copy_text_from(call, rest[0], name, sizeof(name));
	if (result < 0)
		return result == -ENAMETOOLONG ? -34 /* ERANGE */ : result;
	if ((object->mode & S_IFMT) == S_IFLNK)
		return -EPERM;
	if (!starts_with(name, "user.") && !starts_with(name, "system.posix_acl_"))
		return -EPERM;
	own_descriptor_path(&path, object->descriptor);
	if (shape->kind == REMOVE_ATTRIBUTE)
		return CALL(removexattr, path.bytes, name);
	if (rest[2] > MAX_VALUE)
		return -E2BIG;
	result = rest[2] == 0 ? 0 : copy_from(call, rest[1], value, rest[2]);
	return result < 0 ? result : CALL(setxattr, path.bytes, name, value, rest[2], (u32)rest[3]);
}

static long change(const struct vetted_call *call, const struct shape *shape, const struct object *object)
{
	const u64 *rest = &call->arguments[shape->rest];
	struct text path;
	switch (shape->kind) {
	case MODE:
		return change_mode(object, (u32)rest[0] & 07777);
	case OWNER:
		return CALL(fchownat, object->descriptor, "", (u32)rest[0], (u32)rest[1], AT_EMPTY_PATH);
	case LENGTH:
		return CALL(truncate, own_descriptor_path(&path, object->descriptor), rest[0]);
	case SET_ATTRIBUTE:
	case REMOVE_ATTRIBUTE:
		return change_attribute(call, object, shape);
	default:
		return change_times(call, object, shape->kind, rest[0]);
	}
}

/* Which object: by descriptor, by path, or by either as the flags and an empty path say. */
static long name_object(const struct vetted_call *call, const struct shape *shape, char *path, struct object_name *name)
{
	u32 flags = shape->flags == NONE ? 0 : (u32)call->arguments[shape->flags];
	if ((flags & ~(u32)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)) != 0)
		return -EINVAL;
	*name = (struct object_name){ AT_FDCWD, path, shape->follows && (flags & AT_SYMLINK_NOFOLLOW) == 0 };
	if (shape->base != NONE)
		name->base = (i32)call->arguments[shape->base];
	path[0] = 0;
	if (shape->path == NONE)
		return 0;
	u64 address = call->arguments[shape->path];
	int changes_times = shape->kind == TIMES_IN_MICROSECONDS || shape->kind == TIMES_IN_NANOSECONDS;
	/* Two calls mean the descriptor itself by no path at all. */
	if (address == 0 && shape->base != NONE && changes_times)
		return name->base == AT_FDCWD ? -EFAULT : 0;
	long result = copy_text_from(call, address, path, PATH_SIZE);
	if (result == 0 && path[0] == 0 && (flags & AT_EMPTY_PATH) == 0)
		return -ENOENT;
	return result;
}

static struct verdict judge_metadata(const struct vetted_call *call)
{
	static char path[PATH_SIZE];
	static struct object object;
	const struct shape *shape = shape_of(call->number);
	struct object_name name;
	long result = shape == NULL ? -EPERM : name_object(call, shape, path, &name);
	if (result < 0 || (result = hold_object(call, &name, &object)) < 0)
		return (struct verdict){ 0, result, 0 };
	struct verdict verdict = refused(object.place);
	if (may_change(&object, &name))
		verdict = (struct verdict){ 0, change(call, shape, &object), 0 };
	CALL(close, object.descriptor);
	return verdict;
}

judge *metadata_judge(i32 number)
{
	return shape_of(number) == NULL ? NULL : judge_metadata;
}
