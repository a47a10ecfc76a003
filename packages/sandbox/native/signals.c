/* Signals are read from a descriptor, between other things, and never interrupt anything. */
#include "confine.h"

enum { SIG_BLOCK = 0, SIG_SETMASK = 2, SFD_FLAGS = O_CLOEXEC | O_NONBLOCK, SIGNAL_RECORD = 128 };

static const u64 all_signals = ~0ULL;
static const u64 no_signals = 0;

static u64 bit(u32 signal)
{
	return 1ULL << (signal - 1);
}

/* Blocks everything, and opens what is awaited as FD_SIGNALS. */
long block_signals(void)
{
	u64 awaited = bit(SIGCHLD) | bit(SIGTERM);
	struct {
		u64 handler, flags, restorer, mask;
	} standard = { 0, 0, 0, 0 };
	for (u32 signal = 1; signal <= SIGNALS; signal++)
		CALL(rt_sigaction, signal, &standard, NULL, sizeof(u64));
	long result = CALL(rt_sigprocmask, SIG_SETMASK, &all_signals, NULL, sizeof(u64));
	if (result < 0)
		return result;
	int descriptor = (int)CALL(signalfd4, -1, &awaited, sizeof(awaited), SFD_FLAGS);
	if (descriptor < 0)
		return descriptor;
	if (descriptor == FD_SIGNALS)
		return 0;
	result = CALL(dup3, descriptor, FD_SIGNALS, O_CLOEXEC);
	CALL(close, descriptor);
	return result < 0 ? result : 0;
}

long allow_signals(void)
{
	return CALL(rt_sigprocmask, SIG_SETMASK, &no_signals, NULL, sizeof(u64));
}

/* What came since the last time; a supervisor reads its own signals by the descriptor that it has from the helper. */
u32 read_signals(void)
{
	u32 record[SIGNAL_RECORD / 4];
	u32 seen = 0;
	while (CALL(read, FD_SIGNALS, record, sizeof(record)) == SIGNAL_RECORD)
		seen |= record[0] == SIGTERM ? SIGNAL_KILL : SIGNAL_CHILD;
	return seen;
}
