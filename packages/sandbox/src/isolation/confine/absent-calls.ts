import type { Limitation } from '../limitation.ts'

// As the program numbers the kinds of calls that never work under Landlock.
const kinds: readonly (readonly [bit: number, code: Limitation['code']])[] = [
  [1, 'NO_LOOPBACK'],
  [2, 'NO_DATAGRAM_SOCKETS'],
  [4, 'NO_UNIX_SOCKETS'],
  [8, 'NO_SHARED_MEMORY'],
]

/** Returns the limitations that a command met, by what its supervisor remembers of refused calls. */
export function limitationsMet(absent: number): readonly Limitation['code'][] {
  return kinds.flatMap(([bit, code]) => ((absent & bit) === 0 ? [] : [code]))
}
