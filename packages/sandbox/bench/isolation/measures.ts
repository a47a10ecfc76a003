import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { IsolationBackend } from '../../src/isolation/backend.ts'
import type { ProcessorTime } from './processor-time.ts'
import { byEffort } from '../../../../scripts/bench/effort.ts'
import { type Figure, figureOf, single } from '../../../../scripts/bench/result.ts'
import { type Start, startAlone } from './variants.ts'

/** Figures by the name of the variant. */
export type Figures = ReadonlyMap<string, Figure>
type Variants = ReadonlyMap<string, Start>

// The benchmark gives commands another one.
const ownPath = process.env['PATH']
const warmUp = byEffort({ full: 20, short: 10, quick: 1 })
export const crowdRounds: number = byEffort({ full: 7, short: 3, quick: 1 })
export const gigabyteRounds: number = byEffort({ full: 5, short: 2, quick: 1 })
export const killRounds: number = byEffort({ full: 30, short: 20, quick: 2 })
const trueCommand = ['/usr/bin/true'] as const

function singles(values: ReadonlyMap<string, number>): Figures {
  return new Map([...values].map(([name, value]) => [name, single(value)]))
}

/** Median milliseconds of `true`; the variants take turns, so that a slow moment of the machine falls on all of them. */
export async function oneByOne(variants: Variants, rounds: number): Promise<Figures> {
  const times = new Map([...variants.keys()].map((name) => [name, [] as number[]]))
  for (let round = -warmUp; round < rounds; round += 1) {
    for (const [name, start] of variants) {
      const startedAt = performance.now()
      await start(trueCommand)
      if (round >= 0) times.get(name)?.push(performance.now() - startedAt)
    }
  }
  return new Map([...times].map(([name, all]) => [name, figureOf(all)]))
}

/** Milliseconds of processor time for one `true`, of all processes that take part. */
export async function processorTimes(variants: Variants, time: ProcessorTime): Promise<Figures> {
  const [turns, batch] = byEffort({ full: [10, 20], short: [5, 10], quick: [1, 2] })
  const totals = new Map<string, number>()
  for (let turn = 0; turn < turns; turn += 1) {
    for (const [name, start] of variants) {
      const before = time.milliseconds()
      for (let each = 0; each < batch; each += 1) await start(trueCommand)
      totals.set(name, (totals.get(name) ?? 0) + time.milliseconds() - before)
    }
  }
  return new Map([...totals].map(([name, total]) => [name, single(total / turns / batch)]))
}

/** Milliseconds until the last of 64 has ended, the best of some rounds; not a number where some did not start. */
export async function atOnce(variants: Variants): Promise<Figures> {
  const best = new Map<string, number>()
  for (let round = 0; round < crowdRounds; round += 1) {
    for (const [name, start] of variants) {
      const startedAt = performance.now()
      const starts = Array.from({ length: 64 }, () => start(trueCommand))
      const outcomes = await Promise.allSettled(starts)
      const failed = outcomes.some(({ status }) => status === 'rejected')
      const took = failed ? Number.NaN : performance.now() - startedAt
      best.set(name, Math.min(best.get(name) ?? Infinity, took))
    }
  }
  return singles(best)
}

/** Milliseconds for a gigabyte of output, the best of some rounds, and the most that this process grew, in MB. */
export async function gigabyte(
  variants: Variants,
): Promise<{ readonly times: Figures; readonly growth: Figures }> {
  const times = new Map<string, number>()
  const growth = new Map<string, number>()
  for (let round = 0; round < gigabyteRounds; round += 1) {
    for (const [name, start] of variants) {
      globalThis.gc?.()
      const before = process.memoryUsage.rss()
      let peak = before
      const timer = setInterval(() => {
        peak = Math.max(peak, process.memoryUsage.rss())
      }, 5)
      const startedAt = performance.now()
      const bytes = await start(['/bin/sh', '-c', 'yes "a line of output" | head -c 1000000000'])
      const took = performance.now() - startedAt
      clearInterval(timer)
      // A sandbox says in the middle what it left out.
      if (Math.abs(bytes - 1_000_000_000) > 200)
        throw new Error(`${name} lost output: ${bytes} bytes came`)
      times.set(name, Math.min(times.get(name) ?? Infinity, took))
      growth.set(name, Math.max(growth.get(name) ?? 0, (peak - before) / 1e6))
    }
  }
  return { times: singles(times), growth: singles(growth) }
}

/** Median milliseconds from the kill of a command with four processes until nothing of it is left. */
export async function kills(
  working: readonly IsolationBackend[],
  rootDir: string,
): Promise<Figures> {
  const script = 'sleep 60 & (setsid sleep 60 &); env -i setsid sleep 60 & echo ready; wait'
  const figures = new Map<string, Figure>()
  for (const backend of working) {
    const times: number[] = []
    for (let round = 0; round < killRounds; round += 1) {
      const running = await startAlone(backend, rootDir, ['/bin/sh', '-c', script])
      const [, stream] = running.outputs[0] ?? []
      await new Promise((resolve) => stream?.once('data', resolve))
      const startedAt = performance.now()
      running.kill()
      await running.ended
      times.push(performance.now() - startedAt)
      for (const [, each] of running.outputs) each.destroy()
      running.close?.()
    }
    figures.set(backend.name, figureOf(times))
  }
  return figures
}

const manyChmods = `
import os, time
open("mode", "w").close()
best = None
for _ in range(7):
    started = time.perf_counter()
    for _ in range(2000): os.chmod("mode", 0o640)
    took = (time.perf_counter() - started) / 2000 * 1e6
    best = took if best is None else min(best, took)
raise SystemExit(min(250, round(best)))`

/** Microseconds of one `chmod` in the root, measured by the command; its exit code says it. */
export async function changesOfMode(
  working: readonly IsolationBackend[],
  rootDir: string,
): Promise<Figures> {
  const figures = new Map<string, Figure>()
  for (const backend of working) {
    const argv = ['/usr/bin/python3', '-c', manyChmods] as const
    const running = await startAlone(backend, rootDir, argv)
    for (const [, stream] of running.outputs) stream.resume()
    const end = await running.ended
    for (const [, stream] of running.outputs) stream.destroy()
    running.close?.()
    if (end.kind === 'exited' && end.code !== null) figures.set(backend.name, single(end.code))
  }
  return figures
}

/** Kilobytes of the package as npm packs it, with the native programs and without. */
export function packedKilobytes(): { readonly with: number; readonly without: number } {
  const packageDir = join(import.meta.dirname, '../..')
  const copy = mkdtempSync(join(tmpdir(), 'smithers-packed-'))
  try {
    for (const name of ['package.json', 'README.md', 'dist', 'bin']) {
      const from = join(packageDir, name)
      if (existsSync(from)) cpSync(from, join(copy, name), { recursive: true })
    }
    const both = packedSize(copy)
    rmSync(join(copy, 'bin'), { recursive: true })
    return { with: both, without: packedSize(copy) }
  } finally {
    rmSync(copy, { recursive: true })
  }
}

function packedSize(directory: string): number {
  const env = { ...process.env, PATH: ownPath }
  const options = { cwd: directory, encoding: 'utf8', env } as const
  const answer = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], options)
  const [packed] = JSON.parse(answer) as { size: number }[]
  return (packed?.size ?? Number.NaN) / 1000
}
