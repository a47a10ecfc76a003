/**
 * What isolation costs a command, under each backend that works here, beside Node's own spawn, bubblewrap by hand and
 * sandbox-runtime; and which of the goals are met. `pnpm bench isolation`; figures for a loaded machine need
 * `chrt -r 10` before it. Takes about five minutes.
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { cpus, loadavg, release, tmpdir } from 'node:os'
import { join } from 'node:path'
import { SandboxManager } from '@anthropic-ai/sandbox-runtime'
import type { IsolationBackend } from '../src/isolation/backend.ts'
import { createBubblewrap } from '../src/isolation/bubblewrap/backend.ts'
import { createLandlock } from '../src/isolation/confine/landlock.ts'
import { createNamespaces } from '../src/isolation/confine/namespaces.ts'
import { createNoIsolation } from '../src/isolation/none.ts'
import {
  atOnce,
  changesOfMode,
  type Figures,
  gigabyte,
  kills,
  oneByOne,
  packedKilobytes,
  processorTimes,
} from './isolation/measures.ts'
import { countProcessorTime } from './isolation/processor-time.ts'
import { makeVariants } from './isolation/variants.ts'

const rounds = 250
// Which tool directories are mounted depends on it.
process.env['PATH'] = '/usr/bin:/bin'
const rootDir = realpathSync(mkdtempSync(join(tmpdir(), 'isolation-bench-')))
const processor = countProcessorTime()
const none = createNoIsolation()
const working: IsolationBackend[] = []
for (const backend of [createNamespaces(), createBubblewrap(), createLandlock()]) {
  const { usable, notEnforced } = await backend.probe()
  if (usable) working.push(backend)
  else console.log(`without ${backend.name}: ${notEnforced.map(({ why }) => why).join(' ')}`)
}

const goals: Record<string, string>[] = []
try {
  const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, ${process.platform} ${release()}`
  const load = loadavg()[0]?.toFixed(1)
  console.log(`${machine}, Node ${process.version}, load ${load}`)
  const variants = await makeVariants(rootDir, working)

  const single = await oneByOne(variants, rounds)
  print(`"true", one after the other, median of ${rounds} rounds`, 'ms', single)
  const used = processor === null ? null : await processorTimes(variants, processor)
  if (used === null) console.log('\nprocessor time: no control group can be made here')
  else print('"true", processor time of all processes', 'ms', used)
  ratio('"true", landlock, backend alone', 'landlock, backend alone', single, 0.7)
  ratio('"true", landlock, sandbox.run', 'landlock, sandbox.run', single, 1)
  ratio('"true", namespaces, backend alone', 'namespaces, backend alone', single, 1.2)
  for (const name of ['landlock', 'namespaces'])
    if (used !== null) ratio(`… ${name}, processor time`, `${name}, backend alone`, used, null)

  const heavy = await withBallast(200, () => oneByOne(variants, rounds))
  print(`"true", started by a host that holds 200 MB, median of ${rounds} rounds`, 'ms', heavy)
  ratio('landlock, host holds 200 MB', 'landlock, backend alone', heavy, 0.15)
  const landlock = 'landlock, backend alone'
  goal('… beside a small host', (heavy.get(landlock) ?? NaN) / (single.get(landlock) ?? NaN), {
    limit: 1.1,
  })

  const crowd = await atOnce(variants)
  print('"true", 64 at once, best of 7 rounds', 'ms', crowd)
  ratio('64 at once, landlock', landlock, crowd, 0.3)
  ratio('64 at once, namespaces', 'namespaces, backend alone', crowd, 0.5)

  const { times, growth } = await gigabyte(variants)
  print('a gigabyte of output, best of 5 rounds', 'ms', times)
  print('… growth of the host, the most of 5 rounds', 'MB', growth)
  for (const name of [landlock, 'landlock, sandbox.run', 'namespaces, backend alone']) {
    ratio(`1 GB of output, ${name}`, name, times, 1.15)
    goal('… growth of the host', growth.get(name) ?? Number.NaN, { limit: 64, unit: 'MB' })
  }

  const killed = await kills(working, rootDir)
  print('from the kill to the end of four processes, median of 30', 'ms', killed)
  for (const name of ['landlock', 'namespaces'])
    goal(`kill to end, ${name}`, killed.get(name) ?? Number.NaN, { limit: 10, unit: 'ms' })

  const modes = await changesOfMode([none, ...working], rootDir)
  print('one chmod in the root, best of 7 × 2 000', 'µs', modes)
  const judged = (modes.get('landlock') ?? Number.NaN) - (modes.get('none') ?? Number.NaN)
  goal('judged call', judged, { limit: 60, unit: 'µs' })

  const packed = packedKilobytes()
  console.log(
    `\nthe package as npm packs it: ${packed.with.toFixed(1)} kB, without the native programs ${packed.without.toFixed(1)} kB`,
  )
  goal('package, packed', packed.with - packed.without, { limit: 40, unit: 'kB more' })

  console.log('\ngoals')
  console.table(goals)
} finally {
  rmSync(rootDir, { recursive: true })
  await SandboxManager.reset()
  processor?.leave()
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

function print(title: string, unit: string, figures: Figures): void {
  const base = figures.get('spawn') ?? figures.get('none')
  console.log(`\n${title}`)
  console.table(
    [...figures].map(([variant, figure]) => ({
      variant,
      [unit]: figure.toFixed(figure < 100 ? 2 : 0),
      '× spawn': base === undefined ? '' : (figure / base).toFixed(2),
    })),
  )
}

/** Beside the spawn of the same table. */
function ratio(measure: string, name: string, figures: Figures, limit: number | null): void {
  const value = (figures.get(name) ?? Number.NaN) / (figures.get('spawn') ?? Number.NaN)
  goal(measure, value, { limit, unit: '× spawn' })
}

function goal(
  measure: string,
  value: number,
  { limit, unit = '×' }: { readonly limit: number | null; readonly unit?: string },
): void {
  const isKnown = limit !== null && !Number.isNaN(value)
  goals.push({
    measure,
    goal: limit === null ? '' : `≤ ${limit} ${unit}`,
    measured: Number.isNaN(value) ? 'not measured' : `${value.toFixed(2)} ${unit}`,
    met: isKnown ? (value <= limit ? 'met' : 'missed') : '',
  })
}
