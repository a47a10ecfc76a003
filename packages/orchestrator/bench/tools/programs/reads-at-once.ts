/** A thousand reads at once in a process of their own: prints the time and by how much the process grew. */
import { promises as fs } from 'node:fs'
import { join } from 'node:path'
import { figureOf } from '../../../../../scripts/bench/result.ts'
import { nextCall, toolsOfRuns } from '../run-tools.ts'

const [root = '', kind = '', count = '0'] = process.argv.slice(2)
const tools = toolsOfRuns(root)
const read = (index: number): Promise<unknown> =>
  kind === 'ours'
    ? tools.usual.read.execute({ path: `at-once-${index}` }, nextCall())
    : fs.readFile(join(root, `at-once-${index}`), 'utf8')

async function readAll(): Promise<number> {
  tools.renew()
  const startedAt = performance.now()
  const texts = await Promise.all(Array.from({ length: Number(count) }, (_, index) => read(index)))
  if (texts.some((text) => typeof text !== 'string')) throw new Error('A read returned no text.')
  return performance.now() - startedAt
}

// Loaded modules are no growth by the reads.
for (let index = 0; index < 500; index += 1) await read(index % Number(count))
globalThis.gc?.()
const before = process.memoryUsage.rss()
await readAll()
const growthMb = (process.memoryUsage.rss() - before) / 1e6
// The first thousand are also compiled.
const times: number[] = []
for (let round = 0; round < 9; round += 1) times.push(await readAll())
console.log(JSON.stringify({ ms: figureOf(times).median, growthMb }))
