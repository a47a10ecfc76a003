/**
 * What confinement costs: each file operation beside plain `fs.promises` doing the same job without any check.
 * `pnpm bench files [DIRECTORY]`; the program fails when a target is missed.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { closeSync, open as openCallback, promises as fs } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { createSandboxFiles } from '@smithers/sandbox'
import { benchArguments, benchCommand, byEffort } from '../../../scripts/bench/effort.ts'
import { publish } from '../../../scripts/bench/publish.ts'
import { atMost, benchRow, single } from '../../../scripts/bench/result.ts'
import { publishPairedMedians } from './paired-medians.ts'

const openPlain = promisify(openCallback)
const root = mkdtempSync(join(benchArguments[0] ?? tmpdir(), 'files-bench-'))
mkdirSync(join(root, 'a/b/c'), { recursive: true })
const small = 'x'.repeat(1024)
const large = 'x'.repeat(150 * 1024)
const at = (name: string) => join(root, 'a/b', name)
const mega = 'x'.repeat(1024 * 1024)
for (const [name, text] of Object.entries({ small, large, mega, 'c/f': small }))
  writeFileSync(at(name), text)

const files = createSandboxFiles({ rootDir: root, durability: 'relaxed' })
const waiting = createSandboxFiles({ rootDir: root, durability: 'fsync' })

async function plainWrite(path: string, text: string, flush = false): Promise<void> {
  const temporary = `${path}.tmp`
  const handle = await fs.open(temporary, 'w')
  await handle.writeFile(text)
  if (flush) await handle.sync()
  await handle.close()
  await fs.rename(temporary, path)
}

async function plainWriteFile(path: string, text: string): Promise<void> {
  await fs.writeFile(`${path}.tmp`, text)
  await fs.rename(`${path}.tmp`, path)
}

const command = benchCommand('files')
const fileOperations = {
  name: 'file-operations',
  title: 'File operations of the sandbox',
  about:
    'What confinement costs a program that uses `@smithers/sandbox` without the tools: `sandbox.files` beside plain `fs.promises` that does the same job without any check.',
  command,
  plain: 'fs.promises',
}
const met = await publishPairedMedians(fileOperations, [
  {
    name: 'read 1 KB',
    target: 0.7,
    ours: () => files.readText('a/b/small'),
    plain: () => fs.readFile(at('small'), 'utf8'),
  },
  {
    name: 'read 150 KB',
    target: 0.9,
    ours: () => files.readText('a/b/large'),
    plain: () => fs.readFile(at('large'), 'utf8'),
  },
  {
    name: 'write 1 KB (temporary file, rename)',
    target: 0.9,
    ours: () => files.write('a/b/w1', small),
    plain: () => plainWriteFile(at('p1'), small),
  },
  {
    name: 'write 150 KB (temporary file, rename)',
    target: 0.9,
    ours: () => files.write('a/b/w2', large),
    plain: () => plainWriteFile(at('p2'), large),
  },
  {
    name: 'new 1 KB file in a new directory',
    ours: (round) => files.write(`a/new/${round}/f`, small),
    plain: async (round) => {
      await fs.mkdir(at(`new/${round}`), { recursive: true })
      await plainWriteFile(at(`new/${round}/f`), small)
    },
  },
  {
    name: 'open and close at depth 3',
    target: 1.3,
    ours: async () => (await files.open('a/b/c/f')).close(),
    plain: async () => closeSync(await openPlain(at('c/f'), 'r')),
  },
  {
    name: 'write 1 KB with fsync (the default)',
    ours: () => waiting.write('a/b/w3', small),
    plain: () => plainWrite(at('p3'), small, true),
  },
  {
    name: 'write 150 KB with fsync (the default)',
    ours: () => waiting.write('a/b/w4', large),
    plain: () => plainWrite(at('p4'), large, true),
  },
  {
    name: 'price of fsync: 1 KB with, against without',
    plainName: 'ours without',
    ours: () => waiting.write('a/b/w5', small),
    plain: () => files.write('a/b/w6', small),
  },
  {
    name: 'read 1 MB (through the thread pool)',
    ours: () => files.read('a/b/mega'),
    plain: () => fs.readFile(at('mega')),
  },
])

/** The longest time between two turns of the event loop during the work. */
async function longestPauseMs(work: () => Promise<unknown>): Promise<number> {
  let longest = 0
  let before = performance.now()
  let isOver = false
  const turn = () => {
    const now = performance.now()
    longest = Math.max(longest, now - before)
    before = now
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  await work()
  isOver = true
  return Math.max(longest, performance.now() - before)
}

const count = byEffort({ full: 1000, short: 1000, quick: 20 })
const many = Array.from({ length: count }, (_, index) => index)
const descriptors = () => readdirSync('/proc/self/fd').length
const before = descriptors()
const pauses = []
for (const [name, work, isOurs] of [
  ['nothing: what the machine itself pauses', () => setTimeout(100), false],
  ['reads of 1 KB', () => files.readText('a/b/small'), true],
  ['reads of 150 KB', () => files.readText('a/b/large'), true],
  ['writes of 1 KB', (index: number) => files.write(`a/many/${index}`, small), true],
  ['writes of 1 KB with fsync', (index: number) => waiting.write(`a/many/${index}`, small), true],
  ['writes of 150 KB', (index: number) => files.write(`a/many/${index}`, large), true],
] as const) {
  const pause = await longestPauseMs(() => Promise.all(many.map((index) => work(index))))
  const goal = isOurs ? atMost(50, 'median') : undefined
  pauses.push(benchRow(single(pause), { job: name, isOurs, goal }))
}
const missedPauses = publish({
  name: 'event-loop',
  title: 'The event loop during a thousand operations at once',
  about: `The longest time between two turns of the event loop while ${count} operations are started without waiting.`,
  command,
  rounds: 'One round',
  unit: 'ms',
  chart: 'median',
  rows: pauses,
})
// Files that were replaced are closed in the thread pool.
for (let waits = 0; waits < 100 && descriptors() > before; waits += 1) await setTimeout(20)
console.log(`\ndescriptors before ${before}, after ${descriptors()}`)
const isQuiet = missedPauses === 0 && descriptors() === before

files.close()
waiting.close()
rmSync(root, { recursive: true, force: true })
if (!met || !isQuiet) process.exitCode = 1
