/* What the kernel knows of a file, by a descriptor. */
#ifndef CONFINE_STATUS_H
#define CONFINE_STATUS_H

#include "sys.h"

/* struct statx, as the kernel defines it. */
struct status {
	u32 mask, block_size;
	u64 attributes;
	u32 links, user, group;
	u16 mode, spare;
	u64 inode, size, blocks, attributes_mask;
	u64 times[8];
	u32 special_major, special_minor, major, minor;
	u64 rest[14];
};
_Static_assert(sizeof(struct status) == 256, "as the kernel defines it");

static inline long read_status(int descriptor, struct status *status)
{
	enum { TYPE_MODE_LINKS_INODE = 0x107 };
	memset(status, 0, sizeof(*status));
	return CALL(statx, descriptor, "", AT_EMPTY_PATH, TYPE_MODE_LINKS_INODE, status);
}

static inline int is_directory(int descriptor)
{
	struct status status;
	return read_status(descriptor, &status) == 0 && (status.mode & S_IFMT) == S_IFDIR;
}

#endif
