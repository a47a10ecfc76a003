/* Capabilities: given up for good, by commands and by the supervisors that act for them. */
#include "confine.h"

enum { PR_CAPBSET_DROP = 24, PR_SET_SECUREBITS = 28, PR_CAP_AMBIENT = 47, PR_CAP_AMBIENT_CLEAR_ALL = 4 };

/* NOROOT, NO_SETUID_FIXUP and NO_CAP_AMBIENT_RAISE, each with its lock. */
enum { SECUREBITS = 1 | 2 | 4 | 8 | 64 | 128, CAPABILITIES = 64, CAPABILITY_VERSION = 0x20080522 };

/*
 * Root without capabilities is a user like others. The steps that themselves need a capability fail for who never had it;
 * what counts is read back at the end.
 */
long drop_capabilities(void)
{
	struct {
		u32 version;
		i32 process;
	} head = { CAPABILITY_VERSION, 0 };
	struct {
		u32 effective, permitted, inheritable;
	} sets[2] = { { 0, 0, 0 }, { 0, 0, 0 } };
	CALL(prctl, PR_SET_SECUREBITS, SECUREBITS, 0, 0, 0);
	CALL(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	for (u32 capability = 0; capability < CAPABILITIES; capability++)
		CALL(prctl, PR_CAPBSET_DROP, capability, 0, 0, 0);
	long result = CALL(capset, &head, sets);
	if (result < 0)
		return result;
	result = CALL(capget, &head, sets);
	if (result < 0)
		return result;
	for (size_t index = 0; index < 2; index++)
		if ((sets[index].effective | sets[index].permitted | sets[index].inheritable) != 0)
			return -EPERM;
	return 0;
}
