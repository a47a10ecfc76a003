/**
 * The page over a run of 5 000 calls in a log of 100 000, in a real browser: from opening the address to the frame with the
 * first rows, and from a key to the next selected call, both by the clock of the page. Each opening is the first one of
 * a viewer of its own, with an empty cache of the browser. `SMITHERS_CHROMIUM` names the browser.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSqliteLog } from '@smithers/log-sqlite'
import { serveViewer } from '@smithers/log-viewer'
import { chromium, type Page } from 'playwright-core'
import { benchCommand, byEffort } from '../../../scripts/bench/effort.ts'
import { publish } from '../../../scripts/bench/publish.ts'
import { atMost, benchRow, figureOf } from '../../../scripts/bench/result.ts'
import { buildPage } from '../scripts/build-page.ts'
import { manyRows } from '../test/fixtures/sample-rows.ts'

const inRun = 5000
const inLog = byEffort({ full: 100_000, short: 100_000, quick: 5000 })
const repeats = byEffort({ full: 15, short: 15, quick: 1 })

await buildPage()
const folder = mkdtempSync(join(tmpdir(), 'smithers-bench-'))
const log = createSqliteLog({ path: join(folder, 'log.db') })
for (let run = 0; run * inRun < inLog; run += 1) {
  for (const row of manyRows(inRun)) {
    const callToken = `${run} ${row.callToken}`
    const { status, outputJson, errorJson, finishedAtMs, effect, ...start } = row
    const startedAtMs = start.startedAtMs + run * 200_000
    const stored = { ...start, callToken, startedAtMs, runId: `run-${run}` }
    log.start(stored, { durability: 'relaxed', claim: null })
    log.finish(callToken, {
      status: status === 'started' ? 'error' : status,
      outputJson,
      errorJson,
      finishedAtMs: (finishedAtMs ?? 0) + run * 200_000,
      effect: effect ?? 'unknown',
    })
  }
}
const browser = await chromium.launch({
  executablePath: process.env['SMITHERS_CHROMIUM'] ?? '/usr/bin/chromium',
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
})

/** Notes when the frame with the first rows had been drawn, in milliseconds since the page was asked for. */
const noteFirstRows = `new MutationObserver((_, observer) => {
  if (document.querySelector('.call[data-token]') === null) return
  observer.disconnect()
  requestAnimationFrame(() => setTimeout(() => { window.firstRowsMs = performance.now() }))
}).observe(document, { childList: true, subtree: true })`

const rows: number[] = []
const keys: number[] = []
for (let repeat = 0; repeat < repeats; repeat += 1) {
  const viewer = await serveViewer({ log })
  // The page's own policy forbids what waits for its clock.
  const page = await browser.newPage({
    viewport: { width: 1440, height: 900 },
    bypassCSP: true,
  })
  await page.addInitScript(noteFirstRows)
  await page.goto(viewer.url)
  await page.waitForFunction('window.firstRowsMs !== undefined')
  rows.push(await page.evaluate<number>('window.firstRowsMs'))
  for (let key = 0; key < 10; key += 1) keys.push(await pressed(page))
  await page.close()
  await viewer.close()
}
publish({
  name: 'viewer-page',
  title: 'The viewer in a browser',
  about: `The page over a run of ${inRun} calls in a SQLite log of ${inLog}, in a real browser: from opening the address to the first rows, and from a key to the frame that shows the next call.`,
  command: benchCommand('viewer-page'),
  rounds: `Medians of ${rows.length} openings and ${keys.length} keys`,
  unit: 'ms',
  chart: 'median',
  rows: [
    benchRow(figureOf(rows), { job: 'first rows', goal: atMost(500, 'median') }),
    benchRow(figureOf(keys), { job: 'next call selected', goal: atMost(50, 'median') }),
  ],
})

await browser.close()
await log.close()
rmSync(folder, { recursive: true, force: true })

/** How long the page takes from a key to the frame with the next call selected, in its own clock. */
async function pressed(page: Page): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    const before = document.querySelector('.call[aria-current]')?.dataset.token
    const from = performance.now()
    const look = () => {
      const now = document.querySelector('.call[aria-current]')?.dataset.token
      if (now !== undefined && now !== before) resolve(performance.now() - from)
      else requestAnimationFrame(look)
    }
    document.dispatchEvent(new KeyboardEvent('keydown', { key: 'j', bubbles: true }))
    requestAnimationFrame(look)
  })`)
}
