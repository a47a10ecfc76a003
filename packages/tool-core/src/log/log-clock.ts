/**
 * The current time by the clock that all users of a log, or of its runs, share: milliseconds since the epoch. A log that
 * names no clock is used by one machine, or by machines whose clocks agree.
 */
export function nowOf(store: { now?(): number } | undefined): number {
  return store?.now === undefined ? Date.now() : store.now()
}
