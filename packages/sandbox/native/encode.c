/* Sends frames. */
#include "frames.h"

enum { MSG_NOSIGNAL = 0x4000, MAX_SENT = 3072 };

static u8 *put(u8 *at, u32 number)
{
	for (size_t index = 0; index < 4; index++)
		*at++ = (u8)(number >> (8 * index));
	return at;
}

/*
 * The helper and its supervisors share one socket. A send below 4 KiB takes one buffer of the kernel, so frames of
 * different processes never mix.
 */
long send_frame(int socket, enum frame_type type, u32 id, const u32 *numbers, size_t count, const void *bytes,
		size_t length)
{
	u8 frame[MAX_SENT];
	if (count > 512 || length > MAX_SENT - FRAME_HEAD - 4 * count)
		return -E2BIG;
	u8 *at = put(frame, (u32)(FRAME_HEAD - 4 + 4 * count + length));
	at = put(at, type);
	at = put(at, id);
	for (size_t index = 0; index < count; index++)
		at = put(at, numbers[index]);
	if (length > 0)
		memcpy(at, bytes, length);
	at += length;
	long sent;
	do
		sent = CALL(sendto, socket, frame, at - frame, MSG_NOSIGNAL);
	while (sent == -EINTR);
	if (sent < 0)
		return sent;
	return sent == at - frame ? 0 : -E2BIG;
}
