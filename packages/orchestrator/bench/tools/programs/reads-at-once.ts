/** A thousand reads at once in a process of their own: prints the time and by how much the process grew. */
import { promises as fs } from 'node:fs'
import { join } from 'node:path'
import { nextCall, toolsOfRuns } from '../run-tools.ts'

const [root = '', kind = '', count = '0'] = process.argv.slice(2)
const tools = toolsOfRuns(root)
const read = (index: number): Promise<unknown> =>
  kind === 'ours'
    ? tools.usual.read.execute({ path: `at-once-${index}` }, nextCall())
    : fs.readFile(join(root, `at-once-${index}`), 'utf8')

// Compiled code and loaded modules are no growth by the reads.
for (let index = 0; index < 500; index += 1) await read(index % Number(count))
tools.renew()
globalThis.gc?.()
const before = process.memoryUsage.rss()
const startedAt = performance.now()
const texts = await Promise.all(Array.from({ length: Number(count) }, (_, index) => read(index)))
const ms = performance.now() - startedAt
const growthMb = (process.memoryUsage.rss() - before) / 1e6
if (texts.some((text) => typeof text !== 'string')) throw new Error('A read returned no text.')
console.log(JSON.stringify({ ms, growthMb }))
