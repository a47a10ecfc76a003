/*
 * The parts of a file system that is put together: copies of places, new memory, /proc and terminals. All of it by
 * descriptor, so that no name is looked up twice.
 */
#include "mount.h"
#include "status.h"
#include "text.h"

enum { OPEN_TREE_CLONE = 1, MOVE_FROM_EMPTY = 4, MOVE_TO_EMPTY = 0x40, FS_OPEN_CLOEXEC = 1, FS_MOUNT_CLOEXEC = 1 };
enum { SET_STRING = 1, CREATE = 6, RESOLVE_NO_MAGIC_LINKS = 2, RESOLVE_NO_LINKS = 4 };

/* The name was resolved when the step was made: a link in it was put there since, and is an error. */
int open_name(const char *path, u64 flags)
{
	struct {
		u64 flags, mode, resolve;
	} how = { O_PATH | O_CLOEXEC | flags, 0, RESOLVE_NO_LINKS | RESOLVE_NO_MAGIC_LINKS };
	return (int)CALL(openat2, AT_FDCWD, path, &how, sizeof(how));
}

long check_identity(int descriptor, const struct identity *expected)
{
	struct status status;
	if (expected->device == 0 && expected->inode == 0)
		return 0;
	long result = read_status(descriptor, &status);
	if (result < 0)
		return result;
	/* As C libraries, and so Node, write the two numbers in one. */
	u64 device = ((u64)(status.major & ~0xfffU) << 32) | ((u64)(status.major & 0xfff) << 8) |
		((u64)(status.minor & ~0xffU) << 12) | (status.minor & 0xff);
	return device == expected->device && status.inode == expected->inode ? 0 : -ESTALE;
}

long set_attributes(int tree, u64 attributes, u32 is_recursive)
{
	struct {
		u64 set, clear, propagation, user_namespace;
	} change = { attributes, 0, 0, 0 };
	u32 flags = (u32)AT_EMPTY_PATH | (is_recursive ? (u32)AT_RECURSIVE : 0);
	return CALL(mount_setattr, tree, "", flags, &change, sizeof(change));
}

int copy_place(int place, u64 attributes, u32 is_recursive)
{
	u32 flags = (u32)OPEN_TREE_CLONE | O_CLOEXEC | (u32)AT_EMPTY_PATH | (is_recursive ? (u32)AT_RECURSIVE : 0);
	int tree = (int)CALL(open_tree, place, "", flags);
	if (tree < 0)
		return tree;
	long result = set_attributes(tree, attributes, is_recursive);
	if (result == 0)
		return tree;
	CALL(close, tree);
	return (int)result;
}

long attach(int tree, int place)
{
	return CALL(move_mount, tree, "", place, "", MOVE_FROM_EMPTY | MOVE_TO_EMPTY);
}

struct setting {
	const char *name, *value;
};

static int new_tree(const char *kind, const struct setting *settings, size_t count, u64 attributes)
{
	int context = (int)CALL(fsopen, kind, FS_OPEN_CLOEXEC);
	if (context < 0)
		return context;
	long result = 0;
	for (size_t index = 0; index < count && result == 0; index++)
		result = CALL(fsconfig, context, SET_STRING, settings[index].name, settings[index].value, 0);
	if (result == 0)
		result = CALL(fsconfig, context, CREATE, NULL, NULL, 0);
	if (result == 0)
		result = CALL(fsmount, context, FS_MOUNT_CLOEXEC, attributes);
	CALL(close, context);
	return (int)result;
}

int memory_tree(u64 bytes, u32 mode)
{
	struct text size;
	char octal[5] = { (char)('0' + (mode >> 9 & 7)), (char)('0' + (mode >> 6 & 7)), (char)('0' + (mode >> 3 & 7)),
			  (char)('0' + (mode & 7)), 0 };
	text_clear(&size);
	text_add_number(&size, (u32)(bytes >> 10));
	text_add(&size, "k");
	struct setting settings[] = { { "size", size.bytes }, { "mode", octal } };
	return new_tree("tmpfs", settings, ARRAY_LENGTH(settings), ATTRIBUTE_NO_SET_USER_ID | ATTRIBUTE_NO_DEVICES);
}

/* Kernel settings belong to the machine's root, which user 0 inside still is: all of it read-only. */
int process_tree(void)
{
	return new_tree("proc", NULL, 0, ATTRIBUTE_READ_ONLY | ATTRIBUTE_NO_SET_USER_ID | ATTRIBUTE_NO_DEVICES |
			ATTRIBUTE_NO_PROGRAMS);
}

int terminal_tree(void)
{
	static const struct setting settings[] = { { "ptmxmode", "0666" }, { "mode", "0620" } };
	return new_tree("devpts", settings, ARRAY_LENGTH(settings), ATTRIBUTE_NO_SET_USER_ID | ATTRIBUTE_NO_PROGRAMS);
}

static long make_last(int parent, const char *name, u32 mode)
{
	long made = CALL(openat, parent, name, O_CREAT | O_NOFOLLOW | O_CLOEXEC, mode);
	if (made < 0)
		return made;
	CALL(close, made);
	return 0;
}

/* One component at a time, following no link. */
int make_name(const char *path, int wants_directory, u32 mode)
{
	struct text name;
	int at = (int)CALL(openat, AT_FDCWD, "/", O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	while (at >= 0) {
		while (*path == '/')
			path++;
		if (*path == 0)
			return at;
		text_clear(&name);
		for (; *path != 0 && *path != '/'; path++) {
			char letter[2] = { *path, 0 };
			text_add(&name, letter);
		}
		int is_last = *path == 0;
		int next = name.overflow ? -ENAMETOOLONG :
			(int)CALL(openat, at, name.bytes, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0);
		if (next == -ENOENT) {
			long made = is_last && !wants_directory ? make_last(at, name.bytes, mode) :
				CALL(mkdirat, at, name.bytes, is_last ? mode : 0755);
			/* Another command may make the same name in a home that they share. */
			next = made < 0 && made != -EEXIST ? (int)made :
				(int)CALL(openat, at, name.bytes, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0);
		}
		CALL(close, at);
		at = next;
	}
	return at;
}
