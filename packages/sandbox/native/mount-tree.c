/* Carries out the steps of a list of mounts. */
#include "mount.h"
#include "status.h"

static const u64 harmless = ATTRIBUTE_NO_SET_USER_ID | ATTRIBUTE_NO_DEVICES;

/* Copies of places, by their step; -1: none. */
static int trees[MAX_MOUNTS];

static int is_missing(long result)
{
	return result == -ENOENT || result == -EACCES || result == -ELOOP || result == -ENOTDIR;
}

static int take_place(const struct mount_request *mount)
{
	u64 attributes = ATTRIBUTE_NO_SET_USER_ID;
	attributes |= (mount->mode & PLACE_IS_DEVICE) != 0 ? 0 : ATTRIBUTE_NO_DEVICES;
	attributes |= (mount->mode & PLACE_READ_ONLY) != 0 ? ATTRIBUTE_READ_ONLY : 0;
	int place = open_name(mount->from, 0);
	if (place < 0)
		return place;
	long result = check_identity(place, &mount->identity);
	if (result == 0)
		result = copy_place(place, attributes, 1);
	CALL(close, place);
	return (int)result;
}

long take_places(const struct mount_request *mounts, u32 count, u32 *failed)
{
	for (u32 index = 0; index < count; index++) {
		trees[index] = -1;
		if (mounts[index].kind != MOUNT_PLACE)
			continue;
		trees[index] = take_place(&mounts[index]);
		if (trees[index] >= 0)
			continue;
		if ((mounts[index].mode & PLACE_IS_OPTIONAL) == 0 || !is_missing(trees[index])) {
			*failed = index + 1;
			return trees[index];
		}
	}
	return 0;
}

/* Attaches a new tree to a name that is made if it is missing. */
static long attach_to(int tree, const char *path, int wants_directory)
{
	if (tree < 0)
		return tree;
	int place = make_name(path, wants_directory, wants_directory ? 0755 : 0444);
	long result = place < 0 ? place : attach(tree, place);
	if (place >= 0)
		CALL(close, place);
	CALL(close, tree);
	return result;
}

static long cover_by(int tree, int place)
{
	if (tree < 0)
		return tree;
	long result = attach(tree, place);
	CALL(close, tree);
	return result;
}

/* A directory without rights in place of one; else a device on a mount without devices, which nobody can open. */
static long hide(int place)
{
	if (is_directory(place)) {
		int empty = memory_tree(4096, 0);
		long result = empty < 0 ? empty : set_attributes(empty, harmless | ATTRIBUTE_READ_ONLY, 0);
		return result < 0 ? result : cover_by(empty, place);
	}
	int device = open_name("/dev/null", 0);
	if (device < 0)
		return device;
	int tree = copy_place(device, harmless | ATTRIBUTE_READ_ONLY, 0);
	CALL(close, device);
	return cover_by(tree, place);
}

/*
 * Over a name of the root: the object is opened once, following no link, and what covers it is attached to that very
 * object. A mount point cannot be renamed or removed from within, so pinned directories keep their names. A name that is
 * gone needs no cover.
 */
static long cover(const struct mount_request *mount)
{
	int place = open_name(mount->to, 0);
	if (place < 0)
		return place == -ENOENT ? 0 : place;
	long result = check_identity(place, &mount->identity);
	if (result == 0 && mount->kind == MOUNT_HIDE)
		result = hide(place);
	else if (result == 0)
		result = cover_by(copy_place(place, mount->kind == MOUNT_PROTECT ? harmless | ATTRIBUTE_READ_ONLY : harmless, 1),
				  place);
	CALL(close, place);
	return result;
}

static long make_directory(const struct mount_request *mount)
{
	int made = make_name(mount->to, 1, mount->mode);
	if (made < 0)
		return made;
	CALL(close, made);
	return 0;
}

static long seal(const struct mount_request *mount)
{
	int place = open_name(mount->to, 0);
	if (place < 0)
		return place;
	long result = set_attributes(place, ATTRIBUTE_READ_ONLY, 0);
	CALL(close, place);
	return result;
}

static long make_step(const struct mount_request *mount, int tree)
{
	switch (mount->kind) {
	case MOUNT_DIRECTORY:
		return make_directory(mount);
	case MOUNT_LINK:
		return CALL(symlinkat, mount->from, AT_FDCWD, mount->to);
	case MOUNT_MEMORY:
		return attach_to(memory_tree(mount->size, mount->mode), mount->to, 1);
	case MOUNT_PLACE:
		return tree < 0 ? 0 : attach_to(tree, mount->to, is_directory(tree));
	case MOUNT_PROCESSES:
		return attach_to(process_tree(), mount->to, 1);
	case MOUNT_TERMINALS:
		return attach_to(terminal_tree(), mount->to, 1);
	case MOUNT_SEAL:
		return seal(mount);
	default:
		return cover(mount);
	}
}

long make_tree(const struct mount_request *mounts, u32 count, u32 *failed)
{
	for (u32 index = 0; index < count; index++) {
		long result = make_step(&mounts[index], trees[index]);
		if (result < 0) {
			*failed = index + 1;
			return result;
		}
	}
	return 0;
}
