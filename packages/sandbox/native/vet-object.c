/* Finds the object that a call means, holds it, and says whether the command may change it. */
#include "status.h"
#include "vet.h"

enum { SOCKET_FS = 0x534f434b, PIPE_FS = 0x50495045, ANONYMOUS_FS = 0x09041934 };

static u32 roots;

void judge_in(u32 root_count)
{
	roots = root_count;
}

/*
 * Names that mean something else to every process: to us they would name our own descriptors. C libraries change the mode
 * of a link's target by them. 1 if the name was such a one.
 */
static int translate(const struct vetted_call *call, const char *path, struct text *translated)
{
	static const struct {
		const char *prefix, *what;
	} own[] = { { "/proc/self/", "/" }, { "/proc/thread-self/", "/" }, { "/dev/fd/", "/fd/" } };
	static const char *const standard[] = { "/dev/stdin", "/dev/stdout", "/dev/stderr" };
	for (size_t index = 0; index < ARRAY_LENGTH(own); index++) {
		if (!starts_with(path, own[index].prefix))
			continue;
		proc_path(translated, call->task, own[index].what, -1);
		text_add(translated, path + length_of(own[index].prefix));
		return 1;
	}
	for (i32 index = 0; index < 3; index++) {
		if (!starts_with(path, standard[index]) || path[length_of(standard[index])] != 0)
			continue;
		proc_path(translated, call->task, "/fd/", index);
		return 1;
	}
	text_clear(translated);
	text_add(translated, path);
	return 0;
}

static int open_base(const struct vetted_call *call, i32 base)
{
	struct text path;
	if (base == AT_FDCWD)
		proc_path(&path, call->task, "/cwd", -1);
	else if (base >= 0)
		proc_path(&path, call->task, "/fd/", base);
	else
		return -EBADF;
	long opened = CALL(openat, AT_FDCWD, path.bytes, O_PATH | O_CLOEXEC, 0);
	return opened == -ENOENT ? -EBADF : (int)opened;
}

static int open_object(const struct vetted_call *call, const struct object_name *name)
{
	struct text path;
	int flags = O_PATH | O_CLOEXEC | (name->follows ? 0 : O_NOFOLLOW);
	if (name->path[0] == 0)
		return open_base(call, name->base);
	translate(call, name->path, &path);
	if (path.overflow)
		return -ENAMETOOLONG;
	if (path.bytes[0] == '/')
		return (int)CALL(openat, AT_FDCWD, path.bytes, flags, 0);
	int base = open_base(call, name->base);
	if (base < 0)
		return base;
	int opened = (int)CALL(openat, base, path.bytes, flags, 0);
	CALL(close, base);
	return opened;
}

static long place_of(int descriptor, char *place)
{
	struct text name;
	long length = CALL(readlinkat, AT_FDCWD, own_descriptor_path(&name, descriptor), place, PATH_SIZE - 1);
	if (length < 0)
		return length;
	if (length >= PATH_SIZE - 1)
		return -ENAMETOOLONG;
	place[length] = 0;
	return 0;
}

long hold_object(const struct vetted_call *call, const struct object_name *name, struct object *object)
{
	struct status status;
	object->descriptor = open_object(call, name);
	if (object->descriptor < 0)
		return object->descriptor;
	long result = still_waits(call) ? 0 : -ENOENT;
	if (result == 0)
		result = read_status(object->descriptor, &status);
	if (result == 0)
		result = place_of(object->descriptor, object->place);
	if (result < 0) {
		CALL(close, object->descriptor);
		return result;
	}
	object->mode = status.mode;
	object->links = status.links;
	return 0;
}

static int lies_in(const char *place, const char *root)
{
	size_t length = length_of(root);
	if (length == 1)
		return place[0] == '/';
	return starts_with(place, root) && (place[length] == '/' || place[length] == 0);
}

/* Pipes, sockets and files in memory are somewhere only for the process that holds them. */
static int is_nowhere(const struct object *object)
{
	i64 file_system[15] = { 0 };
	if (CALL(fstatfs, object->descriptor, file_system) < 0)
		return 0;
	if (file_system[0] == PIPE_FS || file_system[0] == SOCKET_FS || file_system[0] == ANONYMOUS_FS)
		return 1;
	return object->links == 0 && starts_with(object->place, "/memfd:");
}

/*
 * By where the object lies now, and where the root lies now: both are read from descriptors, so no name that changes
 * meanwhile can lead elsewhere. A name of ours for something of nowhere (a link to /proc/self/fd) is not the command's.
 */
int may_change(const struct object *object, const struct object_name *name)
{
	static char root[PATH_SIZE];
	struct text unused;
	struct vetted_call nobody = { 0, 0, 0, { 0 } };
	if (is_nowhere(object))
		return name->path[0] == 0 || translate(&nobody, name->path, &unused);
	for (u32 index = 0; index < roots; index++)
		if (place_of(FD_ROOTS + (int)index, root) == 0 && lies_in(object->place, root))
			return 1;
	return 0;
}
