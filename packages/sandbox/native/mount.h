/* What a command sees as its file system, made from a list of steps. */
#ifndef CONFINE_MOUNT_H
#define CONFINE_MOUNT_H

#include "confine.h"

/*
 * Two passes: the first copies every place out of the tree as it is, the second builds the new one. So a place can be
 * mounted again above what hides it. `failed` says which step an error belongs to, from 1.
 */
long take_places(const struct mount_request *mounts, u32 count, u32 *failed);
long make_tree(const struct mount_request *mounts, u32 count, u32 *failed);

/* mount-parts.c: trees that are not attached anywhere yet, and descriptors to attach them to. Minus an errno. */
int open_name(const char *path, u64 flags);
long check_identity(int descriptor, const struct identity *expected);
int copy_place(int place, u64 attributes, u32 is_recursive);
int memory_tree(u64 bytes, u32 mode);
int process_tree(void);
int terminal_tree(void);
long attach(int tree, int place);
/* Makes what is missing of the name; its last component is a directory, or a file to mount another on. */
int make_name(const char *path, int is_directory, u32 mode);

enum { ATTRIBUTE_READ_ONLY = 1, ATTRIBUTE_NO_SET_USER_ID = 2, ATTRIBUTE_NO_DEVICES = 4, ATTRIBUTE_NO_PROGRAMS = 8 };
long set_attributes(int tree, u64 attributes, u32 is_recursive);

#endif
