/*
 * Leads each connection to a port of the loopback device to a unix socket outside: the way from a command, which has a
 * network of its own, to the proxy that judges its connections. It reads nothing of what it carries. All memory is here,
 * and touched only when used.
 */
#include "confine.h"
#include "text.h"

enum { MAX_CONNECTIONS = 256, BUFFER = 64 * 1024, BACKLOG = 256 };
enum { AF_UNIX = 1, AF_INET = 2, SOCK_STREAM = 1, SOCK_CLOEXEC = O_CLOEXEC, SOCK_NONBLOCK = O_NONBLOCK };
enum { SOL_SOCKET = 1, SO_REUSEADDR = 2, SHUT_WR = 1, MSG_NOSIGNAL = 0x4000, IPPROTO_TCP = 6, TCP_NODELAY = 1 };
enum { POLLOUT = 4 };

struct flow {
	u32 from, to;
	/* Its source has ended; its sink was told. */
	int is_over, is_told;
	u8 bytes[BUFFER];
};

/* ends[0] is the command's; flows[0] reads from it, flows[1] from the proxy. */
static struct connection {
	int is_open;
	int ends[2];
	struct flow flows[2];
} connections[MAX_CONNECTIONS];
static u32 open_count;

int listen_on_loopback(u32 port)
{
	struct {
		u16 family;
		u8 port[2], address[4], rest[8];
	} name = { AF_INET, { (u8)(port >> 8), (u8)port }, { 127, 0, 0, 1 }, { 0 } };
	int on = 1;
	int listener = (int)CALL(socket, AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (listener < 0)
		return listener;
	CALL(setsockopt, listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	long result = CALL(bind, listener, &name, sizeof(name));
	if (result == 0)
		result = CALL(listen, listener, BACKLOG);
	if (result == 0)
		return listener;
	CALL(close, listener);
	return (int)result;
}

static int connect_to(const char *path)
{
	struct {
		u16 family;
		char path[108];
	} name = { AF_UNIX, { 0 } };
	size_t length = length_of(path);
	if (length >= sizeof(name.path))
		return -ENAMETOOLONG;
	memcpy(name.path, path, length);
	int socket = (int)CALL(socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (socket < 0)
		return socket;
	/* It is made at once, or never: a full backlog is an error. */
	long result = CALL(connect, socket, &name, sizeof(name));
	if (result == 0)
		return socket;
	CALL(close, socket);
	return (int)result;
}

static void accept_one(int listener, const char *path)
{
	int on = 1;
	int client = (int)CALL(accept4, listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (client < 0)
		return;
	int proxy = connect_to(path);
	if (proxy < 0) {
		CALL(close, client);
		return;
	}
	CALL(setsockopt, client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	for (u32 index = 0; index < MAX_CONNECTIONS; index++) {
		struct connection *connection = &connections[index];
		if (connection->is_open)
			continue;
		connection->is_open = 1;
		connection->ends[0] = client;
		connection->ends[1] = proxy;
		for (u32 side = 0; side < 2; side++) {
			struct flow *flow = &connection->flows[side];
			flow->from = flow->to = 0;
			flow->is_over = flow->is_told = 0;
		}
		open_count++;
		return;
	}
	CALL(close, proxy);
	CALL(close, client);
}

static void close_connection(struct connection *connection)
{
	CALL(close, connection->ends[0]);
	CALL(close, connection->ends[1]);
	connection->is_open = 0;
	open_count--;
}

static int is_empty(const struct flow *flow)
{
	return flow->from == flow->to;
}

/* Writes what there is, and says so when it was the last. False on an error. */
static int drain(struct flow *flow, int sink)
{
	while (!is_empty(flow)) {
		long sent = CALL(sendto, sink, flow->bytes + flow->from, flow->to - flow->from, MSG_NOSIGNAL, NULL, 0);
		if (sent == -EINTR)
			continue;
		if (sent == -EAGAIN)
			return 1;
		if (sent <= 0)
			return 0;
		flow->from += (u32)sent;
	}
	flow->from = flow->to = 0;
	if (flow->is_over && !flow->is_told) {
		flow->is_told = 1;
		CALL(shutdown, sink, SHUT_WR);
	}
	return 1;
}

/* Reads only into an empty buffer. False on an error. */
static int fill(struct flow *flow, int source)
{
	long got = CALL(recvfrom, source, flow->bytes, BUFFER, 0, NULL, NULL);
	if (got == -EAGAIN || got == -EINTR)
		return 1;
	if (got < 0)
		return 0;
	flow->to = (u32)got;
	if (got == 0)
		flow->is_over = 1;
	return 1;
}

/* What is worth waiting for at one end: bytes for its own flow, or room for the other's. */
static short wanted_of(const struct connection *connection, u32 side)
{
	const struct flow *own = &connection->flows[side], *other = &connection->flows[1 - side];
	short wanted = 0;
	if (is_empty(own) && !own->is_over)
		wanted |= POLLIN;
	if (!is_empty(other))
		wanted |= POLLOUT;
	return wanted;
}

static void serve(struct connection *connection, const struct pollfd *ends)
{
	int works = 1;
	for (u32 side = 0; side < 2 && works; side++) {
		struct flow *flow = &connection->flows[side];
		int source_is_ready = ends[side].fd >= 0 && ends[side].revents != 0;
		int sink_is_ready = ends[1 - side].fd >= 0 && ends[1 - side].revents != 0;
		if (is_empty(flow) && !flow->is_over && source_is_ready)
			works = fill(flow, connection->ends[side]) && drain(flow, connection->ends[1 - side]);
		else if (!is_empty(flow) && sink_is_ready)
			works = drain(flow, connection->ends[1 - side]);
	}
	if (!works || (connection->flows[0].is_told && connection->flows[1].is_told))
		close_connection(connection);
}

void forward_connections(int listener, const char *path, int until)
{
	static struct pollfd watched[2 + 2 * MAX_CONNECTIONS];
	static struct connection *served[MAX_CONNECTIONS];
	for (;;) {
		u32 count = 0;
		/* Where there is no room, others wait in the backlog. */
		watched[0] = (struct pollfd){ open_count < MAX_CONNECTIONS ? listener : -1, POLLIN, 0 };
		watched[1] = (struct pollfd){ until, POLLIN, 0 };
		for (u32 index = 0; index < MAX_CONNECTIONS; index++) {
			struct connection *connection = &connections[index];
			if (!connection->is_open)
				continue;
			for (u32 side = 0; side < 2; side++) {
				short wanted = wanted_of(connection, side);
				/* The end of a side that is not wanted now would wake us again and again. */
				watched[2 + 2 * count + side] =
					(struct pollfd){ wanted == 0 ? -1 : connection->ends[side], wanted, 0 };
			}
			served[count++] = connection;
		}
		poll_for(watched, 2 + 2 * (size_t)count, -1);
		for (u32 index = 0; index < count; index++)
			serve(served[index], &watched[2 + 2 * index]);
		if ((watched[0].revents & POLLIN) != 0)
			accept_one(listener, path);
		if (watched[1].revents != 0)
			return;
	}
}
