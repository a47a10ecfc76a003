import { describe, expect, test } from 'vitest'
import { bubblewrapFailure, startFailure } from '../../../src/isolation/bubblewrap/failure.ts'

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

describe('startFailure', () => {
  test('knows what bwrap says when it cannot start the program', () => {
    const said = 'bwrap: execvp ./tool: No such file or directory\n'
    expect(startFailure(said, './tool')).toContain('files.read')
    expect(startFailure("bwrap: Can't chdir to /srv/x: No such file\n", 'ls')).toContain('again')
  })

  test('passes on what else it says', () => {
    expect(
      startFailure(
        'bwrap: Creating new namespace failed: Resource temporarily unavailable\n',
        'ls',
      ),
    ).toContain('no process or memory left')
    expect(startFailure('bwrap: something new\n', 'ls')).toContain('(bwrap: something new)')
  })

  test.each(['', 'tool: No such file or directory\n', 'x\nbwrap: execvp ./tool: No such file\n'])(
    'takes %j for the output of a program',
    (printed) => {
      expect(startFailure(printed, './tool')).toBeNull()
    },
  )
})
