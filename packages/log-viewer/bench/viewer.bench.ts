/**
 * What the viewer's server costs on a SQLite log of 100 000 calls (or `--rows=N`), of which one run has 5 000: the median
 * and the slowest of several requests. `pnpm bench viewer`
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSqliteLog } from '@smithers/log-sqlite'
import { serveViewer } from '@smithers/log-viewer'
import { startRow } from '../test/fixtures/sample-log.ts'

const rows = Number(
  process.argv.find((argument) => argument.startsWith('--rows='))?.slice(7) ?? 100_000,
)
const callsOfLargeRun = 5000
const folder = mkdtempSync(join(tmpdir(), 'viewer-bench-'))
const log = createSqliteLog({ path: join(folder, 'log.db'), durability: 'relaxed' })

async function add(index: number, runId: string, seq: number): Promise<void> {
  const callToken = `token-${index}`
  const startedAtMs = Date.now() - (rows - index) * 10
  const inputJson = JSON.stringify({ path: `src/file-${index}.ts`, content: 'x'.repeat(250) })
  const row = startRow({ runId, seq, callToken, idempotencyKey: callToken, startedAtMs, inputJson })
  await log.start(row, { durability: 'relaxed', claim: null })
  const failed = index % 50 === 0
  await log.finish(callToken, {
    status: failed ? 'error' : 'success',
    outputJson: failed ? null : JSON.stringify('y'.repeat(900)),
    errorJson: failed
      ? '{"name":"SmithersError","code":"TOOL_COMMAND_FAILED","message":"exit 1"}'
      : null,
    effect: failed ? 'unknown' : 'applied',
    finishedAtMs: startedAtMs + 5,
  })
}

console.error(`Writing ${rows} calls…`)
for (let index = 0; index < rows; index += 1) {
  const isLarge = index >= rows - callsOfLargeRun
  const run = isLarge ? 'large' : `run-${Math.floor(index / 200)}`
  await add(index, run, isLarge ? index - (rows - callsOfLargeRun) + 1 : (index % 200) + 1)
}

const viewer = await serveViewer({ log })
const headers = { Authorization: `Bearer ${viewer.token}` }

async function get(path: string): Promise<{ readonly text: string; readonly ms: number }> {
  const began = performance.now()
  const response = await fetch(viewer.origin + path, { headers })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
  return { text, ms: performance.now() - began }
}

const table: Record<string, { median: string; slowest: string; kB: string }> = {}

async function measure(name: string, path: string, repeat = 11): Promise<void> {
  const answers = []
  for (let round = 0; round < repeat; round += 1) answers.push(await get(path))
  const times = answers.map(({ ms }) => ms).toSorted((a, b) => a - b)
  table[name] = {
    median: `${times[Math.floor(times.length / 2)]?.toFixed(1)} ms`,
    slowest: `${times.at(-1)?.toFixed(1)} ms`,
    kB: ((answers[0]?.text.length ?? 0) / 1000).toFixed(0),
  }
}

// The first request of each kind is the one that a person waits for.
await measure('first 50 runs, first time', '/api/runs', 1)
await measure('frame of the run of 5 000, first time', '/api/run?runId=large', 1)
await measure('first 50 runs', '/api/runs')
await measure('frame of the run of 5 000', '/api/run?runId=large')
await measure('200 calls of it', '/api/calls?runId=large')
await measure('200 calls in its middle', '/api/calls?runId=large&from=2500')
await measure('one call', `/api/call?callToken=token-${rows - 2500}`)
await measure('search: a frequent word', '/api/search?q=yyy')
await measure('search: nothing, one request', '/api/search?q=no-such-text', 3)
await measure('search: is:failed', '/api/search?q=is:failed')

const seen: number[] = []
for (let round = 0; round < 11; round += 1) {
  const { version } = JSON.parse((await get('/api/changes')).text) as { version: string }
  const waiting = get(`/api/changes?since=${encodeURIComponent(version)}`)
  await new Promise((resolve) => setTimeout(resolve, 300 + Math.random() * 250))
  const began = performance.now()
  await add(rows + round, 'large', callsOfLargeRun + round + 1)
  await waiting
  await get('/api/calls?runId=large&from=4900')
  seen.push(performance.now() - began)
}
seen.sort((a, b) => a - b)
table['a new call is seen and read'] = {
  median: `${seen[5]?.toFixed(0)} ms`,
  slowest: `${seen.at(-1)?.toFixed(0)} ms`,
  kB: '',
}
console.table(table)
await viewer.close()
await log.close()
rmSync(folder, { recursive: true, force: true })
