import { createHash } from 'node:crypto'
import { createMemoryLog } from '@smithers/log-memory'
import { beforeAll, describe, expect, it } from 'vitest'
import type { ExportedRun } from '../../src/api/exported-run.ts'
import { pageBuilt } from '../fixtures/page-built.ts'
import {
  addCall,
  errorJson,
  logWithLostPayment,
  sampleMs,
  startRow,
} from '../fixtures/sample-log.ts'
import { served } from '../fixtures/served.ts'

beforeAll(pageBuilt)

async function exported(
  log: Parameters<typeof served>[0]['log'],
  format: string,
  runId = 'run-1',
): Promise<Response> {
  const viewer = await served({ log })
  const query = new URLSearchParams({ runId, format })
  return await fetch(`${viewer.origin}/api/export?${query.toString()}`, {
    headers: { Authorization: `Bearer ${viewer.token}` },
  })
}

describe('a run as JSON Lines', () => {
  it('has a row of the log on each line, in the order of the timeline', async () => {
    const log = logWithLostPayment()
    const answer = await exported(log, 'jsonl')
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="run-1.jsonl"')
    const lines = (await answer.text()).trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual(log.list({ runId: 'run-1' }))
  })
})

describe('a run as a page', () => {
  it('needs no server, and allows its own script and style alone', async () => {
    const page = await (await exported(logWithLostPayment(), 'html')).text()
    const policy = /Content-Security-Policy" content="([^"]+)"/.exec(page)?.[1] ?? ''
    expect(policy).toContain("default-src 'none'")
    const [, script = ''] = /<script type="module">([\s\S]*?)<\/script>/.exec(page) ?? []
    const [, style = ''] = /<style>([\s\S]*?)<\/style>/.exec(page) ?? []
    for (const [directive, text] of [
      ['script-src', script],
      ['style-src', style],
    ] as const) {
      expect(text.length).toBeGreaterThan(1000)
      const hash = createHash('sha256').update(text).digest('base64')
      expect(policy).toContain(`${directive} 'sha256-${hash}'`)
    }
    expect(policy).not.toMatch(/unsafe|http/)
    const run = dataOf(page)
    expect(run.calls.map(({ summary }) => summary.outcome)).toEqual(['ok', 'unknown', 'refused'])
    expect(run.session.canDecide).toBe(false)
  })

  it('holds what a model wrote as data alone', async () => {
    const log = createMemoryLog()
    const markup = '</script><script>alert(1)</script><!--<script>\u2028'
    addCall(
      log,
      { inputJson: JSON.stringify({ markup }), toolName: markup },
      { outputJson: JSON.stringify(markup) },
    )
    const page = await (await exported(log, 'html')).text()
    expect(page.match(/<script/g)).toHaveLength(2)
    expect(page.match(/<\/script/g)).toHaveLength(2)
    expect(page).not.toContain('alert(1)</')
    expect(dataOf(page).calls[0]?.summary.toolName).toBe(markup)
  })

  it('holds no token', async () => {
    const viewer = await served({ log: logWithLostPayment(), decide: true })
    const answer = await fetch(`${viewer.origin}/api/export?runId=run-1&format=html`, {
      headers: { Authorization: `Bearer ${viewer.token}` },
    })
    expect(await answer.text()).not.toContain(viewer.token)
  })
})

describe('a large run', () => {
  /** A log of a run with a thousand calls of 30 kB, and how its whole rows were read. */
  function watchedLog() {
    const log = createMemoryLog()
    const outputJson = JSON.stringify('x'.repeat(30_000))
    for (let seq = 1; seq <= 1000; seq += 1) addCall(log, { seq }, { outputJson })
    const pages: number[] = []
    const list: typeof log.list = (query) => {
      const rows = log.list(query)
      // Rows without contents are those of the timeline.
      if (query.contentsUpTo === undefined) pages.push(rows.length)
      return rows
    }
    return { log: { ...log, list }, pages }
  }

  it.each(['jsonl', 'otlp'])('as %s is read page by page', async (format) => {
    const { log, pages } = watchedLog()
    const text = await (await exported(log, format)).text()
    expect(text.match(/"token-\d+"/g)).toHaveLength(1000)
    expect(Math.max(...pages)).toBe(100)
  })

  it('is read no further than it is taken', async () => {
    const { log, pages } = watchedLog()
    const reader = (await exported(log, 'jsonl')).body?.getReader()
    await reader?.read()
    await reader?.cancel()
    const read = pages.reduce((sum, rows) => sum + rows, 0)
    expect(read).toBeGreaterThan(0)
    expect(read).toBeLessThan(1000)
  })

  it('as a page holds the contents of its first 5 000 calls, and says which it does not hold', async () => {
    const log = createMemoryLog()
    for (let seq = 1; seq <= 5003; seq += 1) addCall(log, { seq, idempotencyKey: null })
    const run = dataOf(await (await exported(log, 'html')).text())
    expect(run.calls).toHaveLength(5003)
    expect(run.callsInFull).toBe(5000)
    expect(run.calls[4999]).toMatchObject({ inputJson: startRow().inputJson })
    expect(run.calls[5000]).toMatchObject({ inputJson: null, contentsLeftOut: true })
    expect(run.calls[5000]?.summary.seq).toBe(5001)
  })

  it('as a page holds contents of 32 MiB, and little more', async () => {
    const log = createMemoryLog()
    const outputJson = JSON.stringify('x'.repeat(1_000_000))
    for (let seq = 1; seq <= 40; seq += 1) addCall(log, { seq }, { outputJson })
    const page = await (await exported(log, 'html')).text()
    expect(page.length).toBeLessThan(40_000_000)
    expect(dataOf(page).callsInFull).toBeGreaterThan(10)
    expect(dataOf(page).callsInFull).toBeLessThan(40)
    expect(dataOf(page).calls).toHaveLength(40)
  })
})

describe('a run as OTLP', () => {
  it('has a span for each call, with the ids of its trace when it had one', async () => {
    const log = createMemoryLog()
    addCall(log, { seq: 1, traceId: 'ab'.repeat(16), spanId: 'cd'.repeat(8) })
    addCall(
      log,
      { seq: 2 },
      { status: 'error', effect: 'unknown', errorJson: errorJson('TOOL_OUTCOME_UNKNOWN') },
    )
    const { resourceSpans } = (await (await exported(log, 'otlp')).json()) as {
      resourceSpans: [{ scopeSpans: [{ spans: Record<string, unknown>[] }] }]
    }
    const [first, second] = resourceSpans[0].scopeSpans[0].spans
    expect(first).toMatchObject({
      traceId: 'ab'.repeat(16),
      spanId: 'cd'.repeat(8),
      name: 'execute_tool charge',
      startTimeUnixNano: `${sampleMs + 10}000000`,
      status: { code: 0 },
    })
    expect(second).toMatchObject({ status: { code: 2 } })
    expect(second?.['traceId']).toMatch(/^[0-9a-f]{32}$/)
    expect(second?.['attributes']).toContainEqual({
      key: 'smithers.call.outcome',
      value: { stringValue: 'unknown' },
    })
  })
})

it.each([
  ['html', 'none'],
  ['jsonl', 'none'],
  ['otlp', 'none'],
])('%s of a run that the log does not have is not found', async (format, runId) => {
  expect((await exported(logWithLostPayment(), format, runId)).status).toBe(404)
})

it('a format that does not exist is refused', async () => {
  expect((await exported(logWithLostPayment(), 'pdf')).status).toBe(400)
})

it('the name of a file holds nothing of a run that a header or a file system would act on', async () => {
  const log = createMemoryLog()
  const runId = '../..\r\nSet-Cookie: a="b"\u202e/run'
  addCall(log, { runId })
  const answer = await exported(log, 'jsonl', runId)
  expect(answer.headers.get('content-disposition')).toMatch(
    /^attachment; filename="[\w.-]+\.jsonl"$/,
  )
  expect(answer.headers.get('set-cookie')).toBeNull()
})

function dataOf(page: string): ExportedRun {
  const [, json = ''] = /id="smithers-run">([\s\S]*?)<\/script>/.exec(page) ?? []
  return JSON.parse(json) as ExportedRun
}
