/**
 * What isolation costs a command: `true` under each backend that works here, beside Node's own spawn, bubblewrap by hand
 * and sandbox-runtime. The variants take turns, so that a slow moment of the machine falls on all of them.
 * `pnpm bench isolation`; figures for a loaded machine need `chrt -r 10` before it.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { cpus, release, tmpdir } from 'node:os'
import { join } from 'node:path'
import { SandboxManager } from '@anthropic-ai/sandbox-runtime'
import { createSandbox } from '@smithers/sandbox'
import type { IsolationBackend } from '../src/isolation/backend.ts'
import { createBubblewrap } from '../src/isolation/bubblewrap/backend.ts'
import { createLandlock } from '../src/isolation/confine/landlock.ts'
import { createNamespaces } from '../src/isolation/confine/namespaces.ts'
import type { StartRequest } from '../src/isolation/running-command.ts'
import { bareBubblewrap } from './bare-bubblewrap.ts'

const rounds = 250
const warmUp = 20
// Which tool directories are mounted depends on it.
process.env['PATH'] = '/usr/bin:/bin'
const rootDir = realpathSync(mkdtempSync(join(tmpdir(), 'isolation-bench-')))
type Start = (argv: readonly [string, ...string[]]) => Promise<void>
const backends = [createNamespaces(), createBubblewrap(), createLandlock()]
const working: IsolationBackend[] = []
for (const backend of backends) {
  const { usable, notEnforced } = await backend.probe()
  if (usable) working.push(backend)
  else console.log(`without ${backend.name}: ${notEnforced.map(({ why }) => why).join(' ')}`)
}

try {
  console.log(
    `${cpus().length} × ${cpus()[0]?.model.trim()}, ${process.platform} ${release()}, Node ${process.version}`,
  )
  const variants = new Map<string, Start>([
    ['spawn', plain],
    ...working.map((backend) => [`${backend.name}, backend alone`, alone(backend)] as const),
    ...(await wholeSandboxes()),
    ['bwrap by hand, barest', () => plain(['bwrap', ...bareBubblewrap(rootDir).barest])],
    ...(await sandboxRuntime()),
  ])
  console.log(`\n"true", ${rounds} rounds, ms`)
  console.table(await oneByOne(variants, rounds))
  console.log('\nspawned by a host that holds 200 MB, "true", 100 rounds, ms')
  const ballast = Buffer.alloc(200 * 1024 * 1024, 1)
  console.table(await oneByOne(variants, 100))
  ballast.fill(0)
  console.log('\n64 at once, the best of 7 rounds, ms')
  console.table(await atOnce(variants))
  console.log('\nfrom the kill to the end of a command with four processes, 30 rounds, ms')
  console.table(await kills())
} finally {
  rmSync(rootDir, { recursive: true })
  await SandboxManager.reset()
}

function plain([file, ...args]: readonly [string, ...string[]]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd: rootDir, stdio: ['ignore', 'pipe', 'pipe'] })
    child.on('error', reject)
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${file}: ${code}`))))
  })
}

function request(argv: StartRequest['argv']): StartRequest {
  return {
    argv,
    cwd: rootDir,
    cwdHandle: rootDir,
    rootDir,
    policy: { network: 'none', read: [], protect: [], deny: [], limits: { temporaryMb: 64 } },
    env: { PATH: '/usr/bin:/bin', HOME: process.env['HOME'] ?? '/' },
    limits: { fileMb: null, cpuSeconds: null, processes: null },
    controlGroups: [],
    hasInput: false,
    mergeOutput: false,
  }
}

function alone(backend: IsolationBackend): Start {
  return async (argv) => {
    for (let wait = backend.prepare(); wait !== undefined; wait = backend.prepare()) await wait
    const running = backend.start(request(argv))
    for (const [, stream] of running.outputs) stream.resume()
    const end = await running.ended
    for (const [, stream] of running.outputs) stream.destroy()
    running.close?.()
    if (end.kind !== 'exited' || end.code !== 0) throw new Error(JSON.stringify(end))
  }
}

async function wholeSandboxes(): Promise<(readonly [string, Start])[]> {
  const found: (readonly [string, Start])[] = []
  for (const { name } of working) {
    const sandbox = await createSandbox({ rootDir, isolation: { require: [], backend: name } })
    const start: Start = async ([command, ...args]) => {
      const { exitCode } = await sandbox.run(command, args)
      if (exitCode !== 0) throw new Error(`${command}: ${exitCode}`)
    }
    found.push([`${name}, sandbox.run`, start])
  }
  return found
}

/** As its users start a command: the command line is made for each, and read by a shell. */
async function sandboxRuntime(): Promise<(readonly [string, Start])[]> {
  try {
    await SandboxManager.initialize({
      network: { allowedDomains: [], deniedDomains: [] },
      filesystem: { denyRead: [], allowWrite: [rootDir], denyWrite: [] },
    })
  } catch (error) {
    console.log(`without sandbox-runtime: ${(error as Error).message}`)
    return []
  }
  const start: Start = async (argv) =>
    plain(['/bin/sh', '-c', await SandboxManager.wrapWithSandbox(argv.join(' '))])
  return [['sandbox-runtime', start]]
}

async function oneByOne(variants: ReadonlyMap<string, Start>, count: number): Promise<object[]> {
  const times = new Map([...variants.keys()].map((name) => [name, [] as number[]]))
  for (let round = -warmUp; round < count; round += 1) {
    for (const [name, start] of variants) {
      const startedAt = performance.now()
      await start(['/usr/bin/true'])
      if (round >= 0) times.get(name)?.push(performance.now() - startedAt)
    }
  }
  const base = times.get('spawn') ?? []
  return [...times].map(([variant, all]) => ({
    variant,
    median: at(all, 0.5).toFixed(2),
    '× spawn': (at(all, 0.5) / at(base, 0.5)).toFixed(2),
    'best tenth': at(all, 0.1).toFixed(2),
    'best tenth × spawn': (at(all, 0.1) / at(base, 0.1)).toFixed(2),
  }))
}

async function atOnce(variants: ReadonlyMap<string, Start>): Promise<object[]> {
  const best = new Map<string, number>()
  const failed = new Set<string>()
  for (let round = 0; round < 7; round += 1) {
    for (const [name, start] of variants) {
      const startedAt = performance.now()
      const starts = Array.from({ length: 64 }, () => start(['/usr/bin/true']))
      const outcomes = await Promise.allSettled(starts)
      if (outcomes.some(({ status }) => status === 'rejected')) failed.add(name)
      best.set(name, Math.min(best.get(name) ?? Infinity, performance.now() - startedAt))
    }
  }
  const base = best.get('spawn') ?? Number.NaN
  return [...best].map(([variant, ms]) => ({
    variant,
    ms: ms.toFixed(0),
    '× spawn': (ms / base).toFixed(2),
    failures: failed.has(variant) ? 'some did not start' : '',
  }))
}

async function kills(): Promise<object[]> {
  const script = 'sleep 60 & (setsid sleep 60 &); env -i setsid sleep 60 & echo ready; wait'
  const rows: object[] = []
  for (const backend of working) {
    const times: number[] = []
    for (let round = 0; round < 30; round += 1) {
      for (let wait = backend.prepare(); wait !== undefined; wait = backend.prepare()) await wait
      const running = backend.start(request(['/bin/sh', '-c', script]))
      const [, stream] = running.outputs[0] ?? []
      await new Promise((resolve) => stream?.once('data', resolve))
      const startedAt = performance.now()
      running.kill()
      await running.ended
      times.push(performance.now() - startedAt)
      for (const [, each] of running.outputs) each.destroy()
      running.close?.()
    }
    rows.push({ backend: backend.name, median: at(times, 0.5).toFixed(1) })
  }
  return rows
}

function at(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN
}
