/*
 * `confine connect HOST PORT`: joins standard input and output with a host by way of the command's proxy, for programs that
 * know no proxy but can start one, such as ssh. Runs inside, with the rights of the command; the proxy judges it like any
 * other connection.
 */
#include "confine.h"
#include "text.h"

enum { AF_INET = 2, SOCK_STREAM = 1, SOCK_CLOEXEC = O_CLOEXEC, SHUT_WR = 1, MSG_NOSIGNAL = 0x4000 };
enum { MAX_NAME = 255, BUFFER = 64 * 1024, NOT_ALLOWED = 2 };

/* From HTTP_PROXY=http://USER:TOKEN@127.0.0.1:PORT, as the sandbox writes it. */
struct way {
	const char *user, *token;
	size_t user_length, token_length;
	u32 port;
};

/* Up to `end`, which it must have; the length before it. Negative: it is not there, or too far. */
static long length_before(const char *text, char end)
{
	for (long length = 0; length <= MAX_NAME && text[length] != 0; length++)
		if (text[length] == end)
			return length;
	return -EINVAL;
}

static int find_way(const char **variables, struct way *way)
{
	static const char name[] = "HTTP_PROXY=http://";
	static const char address[] = "127.0.0.1:";
	for (; *variables != NULL; variables++) {
		if (!starts_with(*variables, name))
			continue;
		way->user = *variables + sizeof(name) - 1;
		long length = length_before(way->user, ':');
		if (length < 0)
			return 0;
		way->user_length = (size_t)length;
		way->token = way->user + length + 1;
		length = length_before(way->token, '@');
		if (length < 0 || !starts_with(way->token + length + 1, address))
			return 0;
		way->token_length = (size_t)length;
		way->port = number_in(way->token + length + sizeof(address));
		return way->port != 0;
	}
	return 0;
}

static int write_all(int sink, const u8 *bytes, size_t length)
{
	while (length > 0) {
		long written = CALL(write, sink, bytes, length);
		if (written == -EINTR)
			continue;
		if (written == -EAGAIN) {
			struct pollfd room = { sink, 4, 0 };
			poll_for(&room, 1, -1);
			continue;
		}
		if (written <= 0)
			return 0;
		bytes += written;
		length -= (size_t)written;
	}
	return 1;
}

static int read_all(int source, u8 *bytes, size_t length)
{
	while (length > 0) {
		long got = CALL(read, source, bytes, length);
		if (got == -EINTR)
			continue;
		if (got <= 0)
			return 0;
		bytes += got;
		length -= (size_t)got;
	}
	return 1;
}

static size_t add(u8 *message, size_t at, const char *text, size_t length)
{
	message[at] = (u8)length;
	memcpy(message + at + 1, text, length);
	return at + 1 + length;
}

/* The conversation of RFC 1928 and RFC 1929. What the proxy answered: 0 for a connection; -1: nothing of the kind. */
static int ask_for(int proxy, const struct way *way, const char *host, u32 port)
{
	static const u8 hello[] = { 5, 1, 2 };
	u8 message[8 + 2 * MAX_NAME], answer[10];
	if (!write_all(proxy, hello, sizeof(hello)) || !read_all(proxy, answer, 2) || answer[1] != 2)
		return -1;
	message[0] = 1;
	size_t length = add(message, 1, way->user, way->user_length);
	length = add(message, length, way->token, way->token_length);
	if (!write_all(proxy, message, length) || !read_all(proxy, answer, 2) || answer[1] != 0)
		return -1;
	static const u8 request[] = { 5, 1, 0, 3 };
	memcpy(message, request, sizeof(request));
	length = add(message, sizeof(request), host, length_of(host));
	message[length++] = (u8)(port >> 8);
	message[length++] = (u8)port;
	if (!write_all(proxy, message, length) || !read_all(proxy, answer, sizeof(answer)))
		return -1;
	return answer[1];
}

static int open_proxy(u32 port)
{
	struct {
		u16 family;
		u8 port[2], address[4], rest[8];
	} name = { AF_INET, { (u8)(port >> 8), (u8)port }, { 127, 0, 0, 1 }, { 0 } };
	int proxy = (int)CALL(socket, AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (proxy >= 0 && CALL(connect, proxy, &name, sizeof(name)) < 0) {
		CALL(close, proxy);
		return -ECONNREFUSED;
	}
	return proxy;
}

/* Until the host ends, or nobody reads what it says. The end of standard input is passed on. */
static void carry(int proxy)
{
	static u8 bytes[BUFFER];
	int reads_input = 1;
	for (;;) {
		struct pollfd ends[] = { { proxy, POLLIN, 0 }, { reads_input ? 0 : -1, POLLIN, 0 } };
		poll_for(ends, ARRAY_LENGTH(ends), -1);
		if (ends[0].revents != 0) {
			long got = CALL(read, proxy, bytes, sizeof(bytes));
			if (got == 0 || (got < 0 && got != -EINTR) || (got > 0 && !write_all(1, bytes, (size_t)got)))
				return;
		}
		if (reads_input && ends[1].revents != 0) {
			long got = CALL(read, 0, bytes, sizeof(bytes));
			if (got == 0) {
				reads_input = 0;
				CALL(shutdown, proxy, SHUT_WR);
			} else if ((got < 0 && got != -EINTR && got != -EAGAIN) ||
				   (got > 0 && !write_all(proxy, bytes, (size_t)got)))
				return;
		}
	}
}

static int fail(const char *what, const char *host, const char *port)
{
	struct text line;
	text_clear(&line);
	text_add(&line, "confine: ");
	text_add(&line, what);
	text_add(&line, host);
	text_add(&line, ":");
	text_add(&line, port);
	text_add(&line, "\n");
	CALL(write, 2, line.bytes, line.length);
	return 1;
}

int run_connect(const char *host, const char *port_text, const char **variables)
{
	struct way way;
	u32 port = number_in(port_text);
	if (port == 0 || host[0] == 0 || length_of(host) > MAX_NAME)
		return fail("not a host and a port: ", host, port_text);
	if (!find_way(variables, &way))
		return fail("HTTP_PROXY is not the sandbox's, so nothing leads to ", host, port_text);
	int proxy = open_proxy(way.port);
	int answer = proxy < 0 ? -1 : ask_for(proxy, &way, host, port);
	if (answer == NOT_ALLOWED)
		return fail("blocked by the sandbox: ", host, port_text);
	if (answer != 0)
		return fail("no connection to ", host, port_text);
	carry(proxy);
	return 0;
}
