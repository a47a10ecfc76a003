import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createSqliteLog } from '@smithers/log-sqlite'
import { currentOwnerId } from '@smithers/tool-core/log'
import type { ClaimRequest, RunStore, ToolCallLog } from '@smithers/tool-core/log'
import { createMemoryLog } from '@smithers/tool-core/memory-log'

let directory: string
let path: string
let log: ToolCallLog & { readonly runs: RunStore }
let store: RunStore

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'smithers-store-'))
  path = join(directory, 'runs.db')
})

afterEach(async () => {
  await log.close()
  rmSync(directory, { recursive: true })
})

function claim(leaseToken: string, more: Partial<ClaimRequest> = {}): ClaimRequest {
  return {
    runId: 'run-1',
    inputJson: '{"a":1}',
    optionsJson: '{}',
    ownerId: currentOwnerId(),
    leaseToken,
    leaseExpiresAtMs: 1000,
    nowMs: 0,
    ...more,
  }
}

const attempt = { runId: 'run-1', nodeId: 'a', iteration: 0, attempt: 1 }
const start = { ...attempt, taskId: 'a', outputName: null, nowMs: 1 }
const end = { ...attempt, outputJson: '1', errorJson: null, nowMs: 2 } as const

describe.each([
  ['createMemoryLog', () => createMemoryLog()],
  ['createSqliteLog', () => createSqliteLog({ path })],
])('%s', (_name, open) => {
  beforeEach(() => {
    log = open()
    store = log.runs
  })

  test('creates a run for the first that claims it and refuses the second', async () => {
    expect(await store.claim(claim('one'))).toMatchObject({ ok: true, created: true })
    expect(await store.claim(claim('two'))).toMatchObject({
      ok: false,
      run: { leaseToken: 'one', status: 'running' },
    })
  })

  test.each([
    ['whose lease has ended', { nowMs: 1000 }, {}],
    ['whose process is dead', {}, { ownerId: currentOwnerId().replace(/\d+:\d+$/, '1:1') }],
  ])('lets a run be taken over %s, and keeps its input', async (_what, taking, holding) => {
    await store.claim(claim('one', holding))
    await store.startAttempt({ ...start, leaseToken: 'one' })
    const taken = await store.claim(claim('two', { inputJson: '{"b":2}', ...taking }))
    expect(taken).toMatchObject({ ok: true, created: false, run: { inputJson: '{"a":1}' } })
    expect(await store.tasks('run-1')).toMatchObject([{ status: 'interrupted' }])
    expect(await store.attempts('run-1')).toMatchObject([{ status: 'interrupted' }])
  })

  test('fences every write of a process that has lost the run', async () => {
    await store.claim(claim('one'))
    await store.startAttempt({ ...start, leaseToken: 'one' })
    await store.claim(claim('two', { nowMs: 5000, leaseExpiresAtMs: 9000 }))
    const before = [await store.list({}), await store.tasks('run-1'), await store.attempts('run-1')]
    const late = { leaseToken: 'one' }
    expect([
      await store.renew('run-1', 'one', 99_999),
      await store.nameWorkflow('run-1', 'one', 'stolen'),
      await store.startAttempt({ ...start, ...late, attempt: 2 }),
      await store.finishAttempt({ ...end, ...late, status: 'finished' }),
      await store.saveLoop({ runId: 'run-1', loopId: 'l', iteration: 1, finished: false }, 'one'),
      await store.release({ ...late, runId: 'run-1', status: 'failed', errorJson: null, nowMs: 3 }),
    ]).toEqual(Array.from({ length: 6 }, () => 'lost'))
    const after = [await store.list({}), await store.tasks('run-1'), await store.attempts('run-1')]
    expect(after).toEqual(before)
    expect(await store.loops('run-1')).toEqual([])
  })

  test('numbers finished tasks in the order in which they finish', async () => {
    await store.claim(claim('one'))
    const held = { leaseToken: 'one' }
    for (const nodeId of ['a', 'b', 'c']) {
      await store.startAttempt({ ...start, ...held, nodeId, taskId: nodeId })
    }
    for (const nodeId of ['c', 'a']) {
      await store.finishAttempt({ ...end, ...held, nodeId, status: 'finished' })
    }
    await store.finishAttempt({ ...end, ...held, nodeId: 'b', status: 'failed', errorJson: '{}' })
    const tasks = await store.tasks('run-1')
    expect(tasks.map(({ nodeId, status, finishOrder }) => [nodeId, status, finishOrder])).toEqual([
      ['a', 'finished', 2],
      ['b', 'failed', null],
      ['c', 'finished', 1],
    ])
  })

  test('releases a run for whoever comes next, with how it ended', async () => {
    await store.claim(claim('one'))
    await store.nameWorkflow('run-1', 'one', 'bills')
    await store.release({
      runId: 'run-1',
      leaseToken: 'one',
      status: 'failed',
      errorJson: '{"message":"no"}',
      nowMs: 7,
    })
    expect(await store.list({})).toMatchObject([
      { status: 'failed', workflow: 'bills', errorJson: '{"message":"no"}', finishedAtMs: 7 },
    ])
    expect(await store.claim(claim('two'))).toMatchObject({
      ok: true,
      run: { status: 'running', errorJson: null, finishedAtMs: null },
    })
  })

  test('lists runs from the newest and keeps texts of any kind', async () => {
    for (const runId of ['a', 'b', "c'; DROP TABLE _smithers_runs; --", '\u{1f600}']) {
      await store.claim(claim('one', { runId }))
    }
    const runs = await store.list({ limit: 3 })
    expect(runs.map(({ runId }) => runId)).toEqual([
      '\u{1f600}',
      "c'; DROP TABLE _smithers_runs; --",
      'b',
    ])
    expect(await store.list({ runId: 'nobody' })).toEqual([])
  })
})

describe('createSqliteLog', () => {
  test('keeps runs beside the calls, in a file for this user alone', async () => {
    log = createSqliteLog({ path })
    await log.runs.claim(claim('one'))
    await log.close()
    log = createSqliteLog({ path })
    expect(await log.runs.list({})).toMatchObject([{ runId: 'run-1' }])
    expect(await log.list({})).toEqual([])
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  test('gives a run to exactly one of several processes that claim it at once', async () => {
    log = createSqliteLog({ path })
    const program = join(import.meta.dirname, 'fixtures/claim-run.ts')
    const children = Array.from({ length: 4 }, () =>
      spawn(process.execPath, ['--conditions=@smithers/source', program, path, 'run-1'], {
        stdio: ['pipe', 'pipe', 'inherit'],
      }),
    )
    const heard = children.map(({ stdout }) => linesOf(stdout))
    for (const lines of heard) expect(await lines.next()).toBe('ready')
    for (const { stdin } of children) stdin.write('go\n')
    const answers: string[] = []
    for (const lines of heard) answers.push(await lines.next())
    for (const child of children) {
      child.stdin.end()
      await once(child, 'close')
    }
    expect(answers.toSorted()).toEqual(['got it', 'refused', 'refused', 'refused'])
  })
})

/** The lines of a stream, one at a time. */
function linesOf(stream: NodeJS.ReadableStream): { next(): Promise<string> } {
  let text = ''
  const chunks = stream[Symbol.asyncIterator]()
  return {
    async next() {
      while (!text.includes('\n')) {
        const { value, done } = await chunks.next()
        if (done === true) throw new Error(`The stream ended after ${JSON.stringify(text)}.`)
        text += String(value)
      }
      const [line = '', ...rest] = text.split('\n')
      text = rest.join('\n')
      return line
    },
  }
}
