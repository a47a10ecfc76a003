import { createSqliteLog } from '@smithers/log-sqlite'
import type { ToolCallLog, ToolCallRow } from '@smithers/tool-core/log'
import { expect, test } from 'vitest'
import { followCalls } from '../../src/log/follow-calls.ts'
import { sampleStart } from '../fixtures/sample-log.ts'

const startMs = Date.UTC(2026, 0, 1)

function start(log: ReturnType<typeof createSqliteLog>, seq: number): string {
  const startedAtMs = startMs + seq * 1000
  const row = sampleStart(seq, { seq, toolName: 'read', startedAtMs })
  log.start(row, { durability: 'relaxed', claim: null })
  return row.callToken
}

function finish(log: ReturnType<typeof createSqliteLog>, callToken: string, at: number): void {
  log.finish(callToken, {
    status: 'success',
    outputJson: '"ok"',
    errorJson: null,
    effect: 'none',
    finishedAtMs: at,
  })
}

/** A log that counts the rows that it gives, and the calls that are followed in it. */
function watched(query: Parameters<typeof followCalls>[1] = {}): {
  readonly log: ReturnType<typeof createSqliteLog>
  readonly rowsRead: () => number
  readonly looks: () => number
  readonly next: (count: number) => Promise<string[]>
  readonly end: () => Promise<void>
} {
  const log = createSqliteLog({ path: ':memory:' })
  const ending = new AbortController()
  let rows = 0
  let looks = 0
  const list: ToolCallLog['list'] = async (asked) => {
    const found = await log.list(asked)
    rows += found.length
    return found
  }
  const version = async (): Promise<string> => {
    looks += 1
    return await log.version()
  }
  const followed: Pick<ToolCallLog, 'list' | 'version'> = { list, version }
  const calls = followCalls(followed, query, 0, ending.signal)
  const text = ({ seq, status }: ToolCallRow): string => `${seq} ${status}`
  return {
    log,
    rowsRead: () => rows,
    looks: () => looks,
    async next(count) {
      const found: string[] = []
      while (found.length < count) {
        // oxlint-disable-next-line no-await-in-loop -- calls come one after the other
        const { value, done } = await calls.next()
        if (done === true) break
        found.push(text(value))
      }
      return found
    },
    async end() {
      ending.abort()
      await calls.return(undefined)
      await log.close()
    },
  }
}

test('beside a call that never ends, a new call costs a few rows, and a log that does not change none', async () => {
  const { log, rowsRead, looks, next, end } = watched()
  start(log, 1)
  for (let seq = 2; seq <= 1200; seq += 1) finish(log, start(log, seq), startMs + seq * 1000)
  expect((await next(1200)).slice(0, 2)).toEqual(['1 started', '2 success'])
  expect(rowsRead()).toBe(1200)

  const coming = next(2)
  const from = looks()
  await expect.poll(() => looks() - from).toBeGreaterThanOrEqual(2)
  expect(rowsRead()).toBe(1200)

  finish(log, start(log, 1201), startMs + 1_201_000)
  start(log, 1202)
  expect(await coming).toEqual(['1201 success', '1202 started'])
  expect(rowsRead() - 1200).toBeLessThan(15)

  finish(log, 'token-1', startMs + 1_300_000)
  expect(await next(1)).toEqual(['1 success'])
  await end()
})

test('a call that ends long after it has started is found by its status', async () => {
  const { log, next, end } = watched({ status: 'success' })
  start(log, 1)
  for (let seq = 2; seq <= 20; seq += 1) finish(log, start(log, seq), startMs + seq * 1000)
  expect((await next(19)).at(-1)).toBe('20 success')
  finish(log, 'token-1', startMs + 100_000)
  expect(await next(1)).toEqual(['1 success'])
  await end()
})
