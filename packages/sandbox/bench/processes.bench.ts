/**
 * What a command costs, beside the plain ways to start one. The variants take turns, so that a slow moment of the
 * machine falls on all of them; on a machine that does other work the best of the rounds says more than the median.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSandbox } from '@smithers/sandbox'
import { execa } from 'execa'
import { bareBubblewrap, printBareBubblewrap } from './bare-bubblewrap.ts'

const rounds = 300
const rootDir = realpathSync(mkdtempSync(join(tmpdir(), 'processes-bench-')))

const unconfined = await createSandbox({ rootDir, isolation: 'none', warn: () => {} })
const confined = await createSandbox({ rootDir, warn: () => {} })

const variants: Record<string, () => Promise<unknown>> = {
  spawn: () => plainSpawn('true', []),
  execa: () => execa('true', [], { buffer: false, reject: false, cwd: rootDir }),
  'sandbox, isolation none': () => unconfined.run('true'),
}
if (confined.report.backend === 'bubblewrap') {
  const { usable, barest } = bareBubblewrap(rootDir)
  variants['bwrap, barest'] = () => plainSpawn('bwrap', barest)
  variants['bwrap, usable'] = () => plainSpawn('bwrap', usable)
  variants['sandbox, bubblewrap'] = () => confined.run('true')
}

try {
  await commandCosts()
  await manyAtOnce()
  await lateness()
  await gigabyte()
} finally {
  rmSync(rootDir, { recursive: true, force: true })
}

async function commandCosts(): Promise<void> {
  const times = new Map(Object.keys(variants).map((name) => [name, [] as number[]]))
  for (let round = -10; round < rounds; round += 1) {
    for (const [name, run] of Object.entries(variants)) {
      const startedAt = performance.now()
      await run()
      if (round >= 0) times.get(name)?.push(performance.now() - startedAt)
    }
  }
  const of = (name: string) => times.get(name) ?? []
  const bases: Record<string, string> = {
    execa: 'spawn',
    'sandbox, isolation none': 'spawn',
    'sandbox, bubblewrap': 'bwrap, usable',
  }
  printBareBubblewrap(rootDir)
  console.log(`\nOne command ("true"), ${rounds} rounds`)
  console.table(
    [...times.keys()].map((name) => {
      const base = bases[name]
      const ratio = (pick: (values: readonly number[]) => number): string =>
        base === undefined ? '' : `${(pick(of(name)) / pick(of(base))).toFixed(2)} × ${base}`
      return {
        variant: name,
        'median, ms': median(of(name)).toFixed(2),
        ratio: ratio(median),
        'best, ms': Math.min(...of(name)).toFixed(2),
        'ratio of bests': ratio((values) => Math.min(...values)),
      }
    }),
  )
}

async function manyAtOnce(): Promise<void> {
  const rows = []
  for (const sandbox of [unconfined, confined]) {
    const before = process.memoryUsage.rss()
    const startedAt = performance.now()
    const results = await Promise.all(
      Array.from({ length: 64 }, (_, n) =>
        sandbox.run('sh', ['-c', `echo ${n}; head -c 100000 /dev/zero | tr '\\0' x`]),
      ),
    )
    rows.push({
      isolation: sandbox.report.backend,
      ms: (performance.now() - startedAt).toFixed(0),
      failures: results.filter(
        ({ exitCode, stdout }, n) => exitCode !== 0 || !stdout.startsWith(`${n}\n`),
      ).length,
      'memory growth, MB': ((process.memoryUsage.rss() - before) / 1e6).toFixed(1),
    })
  }
  console.log('\n64 commands at once, 100 kB of output each')
  console.table(rows)
}

/** How long after its timeout a call returns, for children that try to stay. */
async function lateness(): Promise<void> {
  const timeoutMs = 300
  const scripts = {
    'same group': 'sleep 999 & sleep 999',
    setsid: 'setsid sleep 999 & sleep 999',
    'double fork': '( ( setsid sleep 999 & ) & ); sleep 999',
    'ignores TERM': `trap '' TERM; sleep 999; sleep 999`,
    nohup: 'nohup setsid sleep 999 >/dev/null 2>&1 & sleep 999',
    'holds the pipe, parent exits': 'setsid sleep 999 & exit 0',
  }
  const rows = []
  for (const [name, script] of Object.entries(scripts)) {
    const row: Record<string, string> = { child: name }
    for (const sandbox of [unconfined, confined]) {
      const { durationMs, status } = await sandbox.run('sh', ['-c', script], { timeoutMs })
      row[`${sandbox.report.backend}, ms`] =
        `${(status === 'timeout' ? durationMs - timeoutMs : durationMs).toFixed(0)} after ${status === 'timeout' ? 'the timeout' : 'the start'}`
    }
    rows.push(row)
  }
  console.log(`\nReturn of a command whose child tries to stay (timeout ${timeoutMs} ms)`)
  console.table(rows)
}

async function gigabyte(): Promise<void> {
  const rows = []
  for (const sandbox of [unconfined, confined]) {
    globalThis.gc?.()
    const before = process.memoryUsage.rss()
    let peak = before
    const timer = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage.rss())
    }, 5)
    const { durationMs } = await sandbox.run('sh', ['-c', 'yes "a line" | head -c 1000000000'])
    clearInterval(timer)
    rows.push({
      isolation: sandbox.report.backend,
      s: (durationMs / 1000).toFixed(2),
      'memory growth, MB': ((peak - before) / 1e6).toFixed(1),
    })
  }
  console.log('\n1 GB of output, 200 kB kept, hashed where needed')
  console.table(rows)
}

function plainSpawn(file: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { cwd: rootDir, stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.on('data', () => {})
    child.stderr.on('data', () => {})
    child.on('error', reject)
    child.on('close', () => resolve())
  })
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
