/**
 * What isolation costs a command, under each backend that works here, beside Node's own spawn, bubblewrap by hand and
 * sandbox-runtime; and which of the goals are met. `pnpm bench isolation`; figures for a loaded machine need
 * `chrt -r 10` before it. Takes about five minutes, with `--short` one.
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SandboxManager } from '@anthropic-ai/sandbox-runtime'
import { attempt, publishNotRun } from '../../../scripts/bench/publish.ts'
import { single } from '../../../scripts/bench/result.ts'
import type { IsolationBackend } from '../src/isolation/backend.ts'
import { createBubblewrap } from '../src/isolation/bubblewrap/backend.ts'
import { createLandlock } from '../src/isolation/confine/landlock.ts'
import { createNamespaces } from '../src/isolation/confine/namespaces.ts'
import { createNoIsolation } from '../src/isolation/none.ts'
import {
  atOnce,
  changesOfMode,
  crowdRounds,
  type Figures,
  gigabyte,
  gigabyteRounds,
  killRounds,
  kills,
  oneByOne,
  packedKilobytes,
  processorTimes,
} from './isolation/measures.ts'
import { countProcessorTime } from './isolation/processor-time.ts'
import { publishAmounts, publishBesideSpawn, rounds } from './isolation/tables.ts'
import { makeVariants } from './isolation/variants.ts'

// Which tool directories are mounted depends on it.
process.env['PATH'] = '/usr/bin:/bin'
const rootDir = realpathSync(mkdtempSync(join(tmpdir(), 'isolation-bench-')))
const processor = countProcessorTime()
const working: IsolationBackend[] = []
for (const backend of [createNamespaces(), createBubblewrap(), createLandlock()]) {
  const { usable, notEnforced } = await backend.probe()
  if (usable) working.push(backend)
  else
    publishNotRun({
      what: `isolation by ${backend.name}`,
      why: notEnforced.map(({ why }) => why).join(' '),
    })
}

const landlock = 'landlock, backend alone'
const namespaces = 'namespaces, backend alone'
try {
  const variants = await makeVariants(rootDir, working)
  const small = await oneByOne(variants, rounds)
  publishBesideSpawn(
    {
      name: 'command-start',
      title: 'Starting a command in the sandbox',
      about:
        'The command `true`, from the call to its end, one after the other, beside Node’s own `spawn`: our backends alone and within `sandbox.run`, bubblewrap by hand with nothing but its namespaces, and sandbox-runtime.',
      rounds: `Medians of ${rounds} rounds`,
    },
    'true',
    small,
    { [landlock]: 0.7, 'landlock, sandbox.run': 1, [namespaces]: 1.2 },
  )
  await attempt('processor time of a command', () => measureProcessorTime(variants))
  await attempt('commands of a large host', () => measureLargeHost(variants, small))
  await attempt('64 commands at once', async () =>
    publishBesideSpawn(
      {
        name: 'commands-at-once',
        title: 'Sixty-four commands at once',
        about: 'From the first call to the end of the last of 64 that are started together.',
        rounds: `The best of ${crowdRounds} rounds`,
      },
      '64 × true',
      await atOnce(variants),
      { [landlock]: 0.3, [namespaces]: 0.5 },
    ),
  )
  await attempt('a gigabyte of output', () => measureGigabyte(variants))
  await attempt('kill of a command', async () =>
    publishAmounts(
      {
        name: 'kill-of-command',
        title: 'Killing a command',
        about:
          'From the kill to the moment when nothing is left of a command with four processes, three of which tried to get away.',
        rounds: `Medians of ${killRounds} rounds`,
      },
      'kill to end',
      await kills(working, rootDir),
      { limit: 10, of: ['landlock', 'namespaces'] },
    ),
  )
  await attempt('judged calls', measureJudgedCalls)
  await attempt('size of the package', () => {
    const packed = packedKilobytes()
    publishAmounts(
      {
        name: 'package-size',
        title: 'The native programs in the package',
        about: 'What they add to the package as npm packs it.',
        rounds: 'Counted once',
        unit: 'kB',
      },
      'native programs, packed',
      new Map([['@smithers/sandbox', single(packed.with - packed.without)]]),
      { limit: 40, of: ['@smithers/sandbox'] },
    )
  })
} finally {
  rmSync(rootDir, { recursive: true })
  await SandboxManager.reset()
  processor?.leave()
}

type Variants = Awaited<ReturnType<typeof makeVariants>>

async function measureProcessorTime(variants: Variants): Promise<void> {
  if (processor === null) throw new Error('No control group can be made here.')
  publishBesideSpawn(
    {
      name: 'command-processor-time',
      title: 'Processor time of a command',
      about:
        'What `true` costs in processor time of all processes that take part, counted by a control group.',
      rounds: 'Means',
    },
    'true',
    await processorTimes(variants, processor),
    {},
  )
}

/** Node copies its page tables for each command, so a large host starts commands slowly; ours do not start from it. */
async function measureLargeHost(variants: Variants, small: Figures): Promise<void> {
  const heavy = await withBallast(200, () => oneByOne(variants, rounds))
  publishBesideSpawn(
    {
      name: 'command-start-large-host',
      title: 'Starting a command from a process of 200 MB',
      about: `The same while the program that starts the commands holds 200 MB. ${besideSmall(heavy, small)}`,
      rounds: `Medians of ${rounds} rounds`,
    },
    'true',
    heavy,
    { [landlock]: 0.15 },
  )
}

function besideSmall(heavy: Figures, small: Figures): string {
  const ratio = (heavy.get(landlock)?.median ?? NaN) / (small.get(landlock)?.median ?? NaN)
  return Number.isNaN(ratio)
    ? ''
    : `Landlock takes ${ratio.toFixed(2)} × of what it takes from a small one (goal ≤ 1.1 ×: ${ratio <= 1.1 ? 'met' : '**missed**'}).`
}

async function measureGigabyte(variants: Variants): Promise<void> {
  const { times, growth } = await gigabyte(variants)
  const promised = [landlock, 'landlock, sandbox.run', namespaces]
  const heading = {
    rounds: `The best of ${gigabyteRounds} rounds`,
    about: 'A command that prints 1 GB, which the program reads to its end.',
  }
  publishBesideSpawn(
    { ...heading, name: 'gigabyte', title: 'A gigabyte of output' },
    '1 GB of output',
    times,
    Object.fromEntries(promised.map((name) => [name, 1.15])),
  )
  publishAmounts(
    {
      name: 'gigabyte-memory',
      title: 'Memory for a gigabyte of output',
      about: 'What the program that reads the gigabyte grows by at most.',
      rounds: `The most of ${gigabyteRounds} rounds`,
      unit: 'MB',
    },
    '1 GB of output',
    growth,
    { limit: 64, of: promised },
  )
}

async function measureJudgedCalls(): Promise<void> {
  const modes = await changesOfMode([createNoIsolation(), ...working], rootDir)
  const plain = modes.get('none')?.median ?? Number.NaN
  publishAmounts(
    {
      name: 'judged-call',
      title: 'A system call that is judged',
      about:
        'Under `landlock` a supervisor judges some system calls, such as `chmod`. Shown is one `chmod` in the root, less what it takes without isolation.',
      rounds: 'The best of 7 × 2 000 calls',
      unit: 'µs',
    },
    'one chmod, more than without',
    new Map(
      [...modes]
        .filter(([name]) => name !== 'none')
        .map(([name, { median }]) => [name, single(Math.max(0, median - plain))]),
    ),
    { limit: 60, of: ['landlock'] },
  )
}

/** Measures while this process holds so many MB. */
async function withBallast(megabytes: number, measure: () => Promise<Figures>): Promise<Figures> {
  let ballast: Buffer | null = Buffer.alloc(megabytes * 1024 * 1024, 1)
  const figures = await measure()
  ballast.fill(0)
  ballast = null
  // The small host again, for what is measured next.
  globalThis.gc?.()
  await new Promise((resolve) => setImmediate(resolve))
  globalThis.gc?.()
  return figures
}
