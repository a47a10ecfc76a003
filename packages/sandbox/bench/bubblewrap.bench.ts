/**
 * What isolation costs a command: `true` under our backend beside `true` under a bare `bwrap`, started in the same way.
 * `pnpm bench bubblewrap`; the program fails when a target is missed.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { IsolationPolicy } from '../src/isolation/isolation-policy.ts'
import type { WrappedCommand } from '../src/isolation/spawn/wrapped-command.ts'
import { createBubblewrap } from '../src/isolation/bubblewrap/backend.ts'
import { closeDescriptors } from '../src/isolation/spawn/child-descriptors.ts'
import { bareBubblewrap, printBareBubblewrap } from './bare-bubblewrap.ts'
import { benchCommand } from '../../../scripts/bench/effort.ts'
import { publishPairedMedians } from './paired-medians.ts'

const rootDir = realpathSync(mkdtempSync(join(tmpdir(), 'isolation-bench-')))
mkdirSync(join(rootDir, '.git/hooks'), { recursive: true })
for (const name of ['.git/config', '.npmrc']) writeFileSync(join(rootDir, name), '')

const backend = createBubblewrap()
const startedAt = performance.now()
const probed = await backend.probe()
console.log(`the live canary, once per process: ${(performance.now() - startedAt).toFixed(0)} ms`)
if (!probed.usable) throw new Error(probed.notEnforced.map(({ why }) => why).join(' '))

function run({ file, args, env, cwd, descriptors }: WrappedCommand): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { env, cwd, stdio: ['ignore', 'pipe', 'pipe', ...descriptors] })
    closeDescriptors(descriptors)
    child.on('error', reject)
    child.on('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`${file} exited with ${code}`)),
    )
  })
}

const toolPath = process.env['PATH'] ?? ''
const systemPath = '/usr/bin:/bin'

/** `path` decides which tool directories are mounted, as PATH does for a user. */
function confined(path: string, policy: Partial<IsolationPolicy> = {}): () => Promise<void> {
  return () => {
    process.env['PATH'] = path
    return run(
      backend.wrap({
        argv: ['/usr/bin/true'],
        cwd: rootDir,
        rootDir,
        policy: {
          network: 'none',
          read: [],
          protect: [],
          deny: [],
          limits: { temporaryMb: 64 },
          ...policy,
        },
        env: { PATH: path, HOME: process.env['HOME'] ?? '/', LANG: 'C.UTF-8' },
      }),
    )
  }
}

const plain = (file: string, ...args: string[]): (() => Promise<void>) => {
  return () => run({ file, args, env: {}, cwd: rootDir, descriptors: [] })
}
const namespaces = ['user', 'pid', 'net', 'ipc', 'uts', 'cgroup'].map((name) => `--unshare-${name}`)
const hygiene = ['--die-with-parent', '--new-session', '--cap-drop', 'ALL', '--clearenv']
const bare = (...mounts: string[]): (() => Promise<void>) =>
  plain('/usr/bin/bwrap', ...namespaces, ...mounts, '--', '/usr/bin/true')
const byHand = bareBubblewrap(rootDir)
const readOnly = (...paths: string[]): string[] =>
  paths.flatMap((path) => ['--ro-bind', path, path])
const links = ['bin', 'sbin', 'lib', 'lib64'].flatMap((name) => [
  '--symlink',
  `usr/${name}`,
  `/${name}`,
])
const settings = ['passwd', 'group', 'hosts', 'nsswitch.conf', 'ld.so.cache', 'alternatives']
const shared = ['--perms', '1777', '--size', '1073741824', '--tmpfs', '/dev/shm']
const proc = ['--proc', '/proc', '--remount-ro', '/proc']
const kernel = [...proc, '--dev', '/dev', ...shared, '--remount-ro', '/dev']
const privates = [
  '--tmpfs',
  '/tmp',
  '--tmpfs',
  '/root',
  '--bind',
  rootDir,
  rootDir,
  '--remount-ro',
  '/',
]
const allowList = [
  ...readOnly('/usr', ...settings.map((name) => `/etc/${name}`)),
  ...links,
  ...kernel,
  ...privates,
]

printBareBubblewrap(rootDir)
try {
  const met = await publishPairedMedians(
    {
      name: 'bubblewrap',
      title: 'Our bubblewrap beside bubblewrap by hand',
      about:
        'The command `true` under our backend beside `bwrap`, both started by Node in the same way.',
      command: benchCommand('bubblewrap'),
      plain: 'bwrap',
    },
    [
      {
        name: 'against bwrap with the same view by hand',
        target: 1.15,
        ours: confined(systemPath),
        plain: bare(...allowList, ...hygiene, '--disable-userns'),
      },
      {
        name: 'against bwrap, usable',
        target: 1.15,
        ours: confined(systemPath),
        plain: plain('/usr/bin/bwrap', ...byHand.usable),
      },
      {
        name: 'the same, with the tools on this PATH',
        ours: confined(toolPath),
        plain: plain('/usr/bin/bwrap', ...byHand.usable),
      },
      {
        name: 'against bwrap, barest',
        ours: confined(systemPath),
        plain: plain('/usr/bin/bwrap', ...byHand.barest),
      },
      {
        name: 'only reading, against bwrap, usable',
        target: 1,
        ours: confined(systemPath, { access: 'read' }),
        plain: plain('/usr/bin/bwrap', ...byHand.usable),
      },
      {
        name: 'three protected names, against none',
        plainName: 'ours',
        ours: confined(systemPath, { protect: ['.git/hooks', '.git/config', '.npmrc'] }),
        plain: confined(systemPath),
      },
      {
        name: 'against no isolation at all',
        plainName: 'spawn',
        ours: confined(systemPath),
        plain: plain('/usr/bin/true'),
      },
    ],
  )
  if (!met) process.exitCode = 1
} finally {
  rmSync(rootDir, { recursive: true })
}
