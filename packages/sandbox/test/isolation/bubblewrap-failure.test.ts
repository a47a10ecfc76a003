import { describe, expect, test } from 'vitest'
import { bubblewrapFailure } from '../../src/isolation/bubblewrap-failure.ts'

describe('bubblewrapFailure', () => {
  // What bwrap prints where it may not do what it needs, and the remedy that belongs to it.
  test.each([
    ['bwrap: setting up uid map: Permission denied', 'apparmor'],
    ['bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted', 'apparmor'],
    [
      'bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces.',
      'unprivileged_userns_clone',
    ],
    ["bwrap: Can't mount proc on /newroot/proc: Operation not permitted", 'systempaths=unconfined'],
    ['bwrap: Failed to make / slave: Operation not permitted', 'seccomp profile'],
    ['bwrap: something new', 'bwrap --unshare-all'],
  ])('explains %j', (printed, remedy) => {
    const { why, fix } = bubblewrapFailure(`first line\n${printed}\n`)
    expect(why).toContain(printed)
    expect(fix).toContain(remedy)
  })
})
