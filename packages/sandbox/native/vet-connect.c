/*
 * Connections to sockets with a path. The command gets a new socket in the place of its own, which we have connected:
 * letting its call go on would let another thread exchange the address first.
 */
#include "vet.h"

enum { ADD_DESCRIPTOR = 0x40182103, AT_THAT_NUMBER = 1 };
enum { AF_UNIX = 1, SOCK_STREAM = 1, SOCK_SEQPACKET = 5, F_SETFL = 4, FAMILY_SIZE = 2, PATH_ROOM = 108 };

struct unix_address {
	u16 family;
	char path[PATH_ROOM + 1];
};

struct added_descriptor {
	u64 cookie;
	u32 flags, source, target, target_flags;
};
_Static_assert(sizeof(struct added_descriptor) == 24, "as the kernel defines it");

static long read_address(const struct vetted_call *call, struct unix_address *address)
{
	size_t length = call->arguments[2] & 0xffffffff;
	memset(address, 0, sizeof(*address));
	if (length < FAMILY_SIZE || length > FAMILY_SIZE + PATH_ROOM)
		return -EINVAL;
	long result = copy_from(call, call->arguments[1], address, length);
	if (result < 0)
		return result;
	/* No other sockets exist in a command. */
	return address->family != AF_UNIX || length == FAMILY_SIZE ? -EINVAL : 0;
}

/* The flags of the command's descriptor as /proc says them: "flags:", blanks, and an octal number. */
static long flags_of(const struct vetted_call *call, i32 descriptor)
{
	struct text path;
	char contents[256];
	proc_path(&path, call->task, "/fdinfo/", descriptor);
	long file = CALL(openat, AT_FDCWD, path.bytes, O_RDONLY | O_CLOEXEC, 0);
	if (file < 0)
		return -EBADF;
	long length = CALL(read, file, contents, sizeof(contents) - 1);
	CALL(close, file);
	if (length < 0)
		return length;
	contents[length] = 0;
	for (const char *at = contents; *at != 0; at++) {
		if (!starts_with(at, "flags:"))
			continue;
		long flags = 0;
		for (at += 6; *at == ' ' || *at == '\t'; at++)
			;
		for (; *at >= '0' && *at <= '7'; at++)
			flags = flags * 8 + (*at - '0');
		return flags;
	}
	return -EBADF;
}

static int is_socket(const struct vetted_call *call, i32 descriptor)
{
	struct text path;
	char target[64];
	proc_path(&path, call->task, "/fd/", descriptor);
	long length = CALL(readlinkat, AT_FDCWD, path.bytes, target, sizeof(target) - 1);
	if (length < 0)
		return 0;
	target[length] = 0;
	return starts_with(target, "socket:[");
}

/* Never blocks: a listener that takes no more says EAGAIN. Of which kind it is, it says itself. */
static long connect_to(const struct object *listener, int *socket)
{
	static const int kinds[] = { SOCK_STREAM, SOCK_SEQPACKET };
	struct unix_address address = { AF_UNIX, { 0 } };
	struct text name;
	long result = -EPROTOTYPE;
	own_descriptor_path(&name, listener->descriptor);
	memcpy(address.path, name.bytes, name.length);
	for (size_t index = 0; index < ARRAY_LENGTH(kinds) && result == -EPROTOTYPE; index++) {
		*socket = (int)CALL(socket, AF_UNIX, kinds[index] | O_NONBLOCK | O_CLOEXEC, 0);
		if (*socket < 0)
			return *socket;
		result = CALL(connect, *socket, &address, FAMILY_SIZE + name.length + 1);
		if (result < 0)
			CALL(close, *socket);
	}
	return result;
}

static long hand_over(const struct vetted_call *call, int socket, long flags)
{
	struct added_descriptor added = {
		call->cookie, AT_THAT_NUMBER, (u32)socket, (u32)call->arguments[0], (u32)(flags & O_CLOEXEC),
	};
	if ((flags & O_NONBLOCK) == 0)
		CALL(fcntl, socket, F_SETFL, O_RDWR);
	long result = CALL(ioctl, FD_CALLS, ADD_DESCRIPTOR, &added);
	return result < 0 ? result : 0;
}

static struct verdict judge_connect(const struct vetted_call *call)
{
	static struct object listener;
	struct unix_address address;
	int socket = -1;
	i32 descriptor = (i32)call->arguments[0];
	long flags = descriptor < 0 ? -EBADF : flags_of(call, descriptor);
	if (flags < 0)
		return (struct verdict){ 0, flags, 0 };
	if (!is_socket(call, descriptor))
		return (struct verdict){ 0, -ENOTSOCK, 0 };
	long result = read_address(call, &address);
	if (result < 0)
		return (struct verdict){ 0, result, 0 };
	if (address.path[0] == 0) {
		struct verdict verdict = refused("an abstract unix socket");
		verdict.result = -EACCES;
		return verdict;
	}
	struct object_name name = { AT_FDCWD, address.path, 1 };
	if ((result = hold_object(call, &name, &listener)) < 0)
		return (struct verdict){ 0, result, 0 };
	struct verdict verdict = refused(listener.place);
	if (may_change(&listener, &name)) {
		result = (listener.mode & S_IFMT) == S_IFSOCK ? connect_to(&listener, &socket) : -ECONNREFUSED;
		verdict = (struct verdict){ 0, result < 0 ? result : hand_over(call, socket, flags), 0 };
		if (result >= 0)
			CALL(close, socket);
	} else {
		verdict.result = -EACCES;
	}
	CALL(close, listener.descriptor);
	return verdict;
}

judge *connect_judge(i32 number)
{
	return number == NR_connect ? judge_connect : NULL;
}
