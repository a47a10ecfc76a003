import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  bubblewrapArguments,
  type BubblewrapFacts,
} from '../../../src/isolation/bubblewrap/arguments.ts'
import { closeDescriptors } from '../../../src/isolation/spawn/child-descriptors.ts'
import type { WrapRequest } from '../../../src/isolation/spawn/wrapped-command.ts'

let rootDir: string
beforeEach(() => {
  rootDir = realpathSync(mkdtempSync(join(tmpdir(), 'smithers-arguments-')))
})
afterEach(() => rmSync(rootDir, { recursive: true, force: true }))

const facts: BubblewrapFacts = {
  system: {
    programs: { directories: ['/usr'], links: [], visible: ['/usr'] },
    etc: { files: [], links: [], directories: [] },
  },
  etcSnapshot: null,
  toolchains: [],
  systemCallFilter: new Uint8Array(8),
  mountsDescriptors: true,
}

function optionsFor(
  policy: Partial<WrapRequest['policy']> = {},
  env: WrapRequest['env'] = {},
  own: Partial<BubblewrapFacts> = {},
): string {
  const request: WrapRequest = {
    argv: ['true'],
    cwd: rootDir,
    rootDir,
    policy: {
      network: 'none',
      read: [],
      protect: [],
      deny: [],
      limits: { temporaryMb: 8 },
      ...policy,
    },
    env,
  }
  const { options, descriptors } = bubblewrapArguments(request, { ...facts, ...own })
  closeDescriptors(descriptors)
  return options.join(' ')
}

describe('bubblewrapArguments', () => {
  // Several of these stand behind the filter or each other: an attack sees no difference when one alone is lost.
  test('asks for every namespace, no capability, no further user namespace, and a death with the parent', () => {
    expect(optionsFor()).toContain(
      '--unshare-user --unshare-pid --unshare-net --unshare-ipc --unshare-uts --unshare-cgroup-try --disable-userns --die-with-parent --new-session --cap-drop ALL --clearenv',
    )
    expect(optionsFor({ network: 'host' })).not.toContain('--unshare-net')
  })

  test('makes the root tree and the kernel settings read-only', () => {
    expect(optionsFor()).toMatch(/--proc \/proc --remount-ro \/proc .*--remount-ro \/ --seccomp/)
  })

  test('mounts what contains the root before it, and hides no part of it', () => {
    const above = join(rootDir, '..')
    const options = optionsFor(
      { read: [above, rootDir, join(rootDir, 'inner')] },
      { HOME: join(rootDir, 'home') },
    )
    expect(options.indexOf(`--ro-bind-try ${above} `)).toBeLessThan(
      options.indexOf(`--bind ${rootDir} `),
    )
    expect(options).not.toContain(`--tmpfs ${rootDir}`)
    expect(options).not.toContain(`--ro-bind-try ${rootDir}`)
  })

  test.each(['/', '/usr', '/usr/share/x', '/proc', '/dev/shm', 'relative', ''])(
    'hides no part of the system for a HOME of %j',
    (home) => {
      const tmpfs = [...optionsFor({}, { HOME: home }).matchAll(/--tmpfs (\S+)/g)].map(
        ([, path]) => path,
      )
      expect(tmpfs).toEqual(['/dev/shm', '/tmp'])
    },
  )

  test('gives a home below /tmp a directory there', () => {
    expect(optionsFor({}, { HOME: '/tmp/me/' })).toContain('--perms 0700 --dir /tmp/me')
  })

  test.each(['/', '//', '/usr/..', 'etc'])('refuses %j as a readable path', (path) => {
    expect(() => optionsFor({ read: [path] })).toThrow(
      expect.objectContaining({ code: 'INVALID_INPUT' }),
    )
  })

  test('holds each protected name open, its directories first; links, missing names and `..` are left out', () => {
    mkdirSync(join(rootDir, 'a/b'), { recursive: true })
    writeFileSync(join(rootDir, 'a/b/c'), '')
    symlinkSync('a', join(rootDir, 'link'))
    const options = optionsFor({
      protect: ['a/b/c', 'a/b/c', 'link', 'link/b/c', 'missing', '../x', 'a/../a/b'],
    })
    const mounted = [...options.matchAll(/--(ro-)?bind-fd \d+ (\S+)/g)].map(
      ([, how, path]) => `${how ?? ''}${path}`,
    )
    expect(mounted).toEqual([`${rootDir}/a`, `${rootDir}/a/b`, `ro-${rootDir}/a/b/c`])
  })

  test('mounts nothing of the root by path where descriptors cannot be mounted, but still hides', () => {
    mkdirSync(join(rootDir, 'a'))
    for (const name of ['a/kept', 'a/hidden']) writeFileSync(join(rootDir, name), '')
    const options = optionsFor(
      { protect: ['a/kept'], deny: ['a/hidden'] },
      {},
      { mountsDescriptors: false },
    )
    expect(options).toContain(`--ro-bind /dev/null ${rootDir}/a/hidden`)
    expect(options).not.toContain('kept')
    expect(options).not.toContain(`bind ${rootDir}/a `)
  })
})
