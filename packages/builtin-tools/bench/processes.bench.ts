/** What `bash` and `grep` cost beside the programs that they run. Variants take turns; figures are medians. */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createBuiltinTools } from '@smithers/builtin-tools'
import { createSandbox } from '@smithers/sandbox'
import { createToolContext, runWithToolContext } from '@smithers/tool-core'
import { rgPath } from '@vscode/ripgrep'
import { bareBubblewrap, printBareBubblewrap } from '../../sandbox/bench/bare-bubblewrap.ts'

const rootDir = realpathSync(mkdtempSync(join(tmpdir(), 'tools-bench-')))
const call = { toolCallId: 'call', messages: [] }
const probe = await createSandbox({ rootDir, warn: () => {} })
const isolations =
  probe.report.backend === 'none' ? (['none'] as const) : (['none', 'auto'] as const)

try {
  await bashCosts()
  await parallelBash()
  await grepCosts()
} finally {
  rmSync(rootDir, { recursive: true, force: true })
}

function toolsWith(isolation: 'none' | 'auto') {
  const { bash, grep } = createBuiltinTools({ isolation, warn: () => {} })
  const context = createToolContext({ rootDir, isolation })
  return {
    bash: (cmd: string, args: string[] = []) =>
      runWithToolContext(context, () => bash.execute({ cmd, args }, call)),
    grep: (pattern: string) => runWithToolContext(context, () => grep.execute({ pattern }, call)),
  }
}

async function bashCosts(): Promise<void> {
  const variants: Record<string, () => Promise<unknown>> = {
    spawn: () => run('true', []),
    'bash, isolation none': () => none.bash('true'),
    ...(isolations.length > 1
      ? {
          'bwrap, barest': () => run('bwrap', barest),
          'bwrap, usable': () => run('bwrap', usable),
          'bash, bubblewrap': () => auto.bash('true'),
        }
      : {}),
  }
  const { usable, barest } = bareBubblewrap(rootDir)
  const none = toolsWith('none')
  const auto = toolsWith('auto')
  const times = await measure(variants, 300)
  console.log('\nbash { cmd: "true" }, median of 300 rounds')
  report(times, { 'bash, isolation none': 'spawn', 'bash, bubblewrap': 'bwrap, usable' })
  printBareBubblewrap(rootDir)
}

async function parallelBash(): Promise<void> {
  const rows = []
  for (const isolation of isolations) {
    const { bash } = toolsWith(isolation)
    await bash('true')
    const before = process.memoryUsage.rss()
    const startedAt = performance.now()
    const outputs = await Promise.allSettled(
      Array.from({ length: 64 }, (_, n) => bash('sh', ['-c', `echo ${n}; sleep 0.1`])),
    )
    rows.push({
      isolation,
      ms: (performance.now() - startedAt).toFixed(0),
      errors: outputs.filter((o, n) => o.status === 'rejected' || o.value !== `${n}\n`).length,
      'memory growth, MB': ((process.memoryUsage.rss() - before) / 1e6).toFixed(1),
    })
  }
  console.log('\n64 parallel bash calls')
  console.table(rows)
}

async function grepCosts(): Promise<void> {
  const line = 'the quick brown fox jumps over the lazy dog and runs on\n'
  const body = line.repeat(Math.ceil(12_500 / line.length))
  for (let file = 0; file < 8_000; file += 1) {
    const folder = join(rootDir, `folder-${file % 80}`)
    if (file < 80) mkdirSync(folder)
    // One hit in every 160th file makes 50; the word of the second search stands in 20 000 lines.
    const rare = file % 160 === 0 ? 'a needle in the hay\n' : ''
    const often =
      file % 8 < 4
        ? '    const result = await manyNeedles(argument, { retries: 3, signal })\n'.repeat(5)
        : ''
    writeFileSync(join(folder, `file-${file}.txt`), rare + often + body)
  }
  for (const [title, pattern, goal] of [
    ['50 hits in 8 000 files, 100 MB', 'a needle', '≤ 1.05'],
    ['20 000 hits, cut at 200 kB', 'manyNeedles', '≤ 0.3'],
  ] as const) {
    const flags = ['--no-config', '-n', '-H', '--no-heading', '--color=never', '--', pattern, './']
    const variants: Record<string, () => Promise<unknown>> = { rg: () => run(rgPath, flags) }
    for (const isolation of isolations) {
      const { grep } = toolsWith(isolation)
      variants[`grep, isolation ${isolation}`] = () => grep(pattern)
    }
    const times = await measure(variants, 25, 20)
    console.log(`\ngrep: ${title} (goal ${goal} × rg)`)
    report(times, Object.fromEntries(isolations.map((name) => [`grep, isolation ${name}`, 'rg'])))
  }
}

async function measure(
  variants: Record<string, () => Promise<unknown>>,
  rounds: number,
  pauseMs = 0,
): Promise<Map<string, number[]>> {
  const times = new Map(Object.keys(variants).map((name) => [name, [] as number[]]))
  for (let round = -3; round < rounds; round += 1) {
    for (const [name, work] of Object.entries(variants)) {
      // What one variant leaves to do (a killed search, memory to free) must not fall on the next.
      if (pauseMs > 0) await pause(pauseMs)
      const startedAt = performance.now()
      await work()
      if (round >= 0) times.get(name)?.push(performance.now() - startedAt)
    }
  }
  return times
}

function report(
  times: ReadonlyMap<string, number[]>,
  bases: Readonly<Record<string, string>>,
): void {
  const of = (name: string) => times.get(name) ?? []
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

function run(file: string, args: readonly string[]): Promise<void> {
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
