import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createSqliteLog } from '@smithers/log-sqlite'
import {
  createToolRun,
  defineTool,
  type ToolCallLog,
  type ToolRunOptions,
} from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { deferred } from '../fixtures/deferred.ts'
import type { WorkerOrder } from '../fixtures/programs/charging-worker.ts'

// A user clicks twice, a queue hands out a job twice: two workers do the same task at the same time. Both use the default
// tool, which a retry may repeat, so only what they learn of each other keeps each charge from being made twice.

const program = new URL('../fixtures/programs/charging-worker.ts', import.meta.url).pathname

interface Worker {
  readonly child: ChildProcess
  readonly lines: Interface
}

async function startWorker(order: WorkerOrder): Promise<Worker> {
  const child = spawn(
    process.execPath,
    [
      '--conditions=@smithers/source',
      '--disable-warning=ExperimentalWarning',
      program,
      JSON.stringify(order),
    ],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })
  const worker = { child, lines }
  await nextLine(worker)
  return worker
}

function nextLine({ lines }: Worker): Promise<string> {
  return new Promise((resolve, reject) => {
    lines.once('line', resolve)
    lines.once('close', () => reject(new Error('the worker ended')))
  })
}

/** Lets the workers make the same calls; returns the charged invoices, and the answers of each that were wrong. */
async function work(
  workers: readonly Partial<WorkerOrder>[],
): Promise<{ charged: number[]; wrong: string[][] }> {
  const folder = mkdtempSync(join(tmpdir(), 'smithers-workers-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const files = { logFile: join(folder, 'calls.db'), chargesFile: join(folder, 'charges') }
  writeFileSync(files.chargesFile, '')
  const defaults = { ...files, attempt: 1, calls: 100, startsAfterMs: 0, unclaimed: false }
  const started = await Promise.all(workers.map((each) => startWorker({ ...defaults, ...each })))
  const answers = started.map(nextLine)
  for (const { child } of started) child.stdin?.write('go\n')
  const wrong = (await Promise.all(answers)).map((line) => JSON.parse(line) as string[])
  for (const { child } of started) child.stdin?.end()
  const charged = readFileSync(files.chargesFile, 'utf8').trim().split('\n').map(Number)
  return { charged: charged.toSorted((a, b) => a - b), wrong }
}

const each100 = Array.from({ length: 100 }, (_, index) => index + 1)

describe('processes that do one task at the same time', () => {
  test.each([
    ['two, of one attempt', [{}, {}]],
    ['eight, of one attempt', Array.from({ length: 8 }, () => ({}))],
  ])('make each charge once: %s', async (_, workers) => {
    const { charged, wrong } = await work(workers)
    expect(charged).toEqual(each100)
    expect(wrong).toEqual(workers.map(() => []))
  })

  test.each([
    ['two, the second 40 ms late', [{}, { attempt: 2, startsAfterMs: 40 }]],
    [
      'eight, each later than the one before',
      Array.from({ length: 8 }, (_, index) => ({ attempt: index + 1, startsAfterMs: index * 20 })),
    ],
  ])('make each charge once, the last attempt those that were left: %s', async (_, workers) => {
    const { charged, wrong } = await work(workers)
    expect(charged).toEqual(each100)
    expect(wrong.pop()).toEqual([])
    for (const answer of wrong.flat()) expect(answer).toContain('a later attempt has begun')
  })

  test('make charges twice without claims', async ({ signal }) => {
    let made = 0
    // Only at the same time: on a busy machine, one may have made them all before the other begins.
    while (made <= 100 && !signal.aborted) {
      made = (await work([{ unclaimed: true }, { unclaimed: true }])).charged.length
    }
    expect(made).toBeGreaterThan(100)
  })
})

/** A tool whose calls end when they are let go, and what it charged. */
function slowCharge() {
  const charged: number[] = []
  const gate = deferred()
  const charge = defineTool({
    name: 'charge',
    schema: z.object({ invoice: z.number() }),
    sideEffect: true,
    acceptsContext: true,
    async execute({ invoice }) {
      charged.push(invoice)
      if (invoice === 1) await gate.promise
      else await nextTurn()
      return `charged ${invoice}`
    },
  })
  return { charged, charge, letGo: gate.resolve }
}

async function chargeAll(
  charge: ReturnType<typeof slowCharge>['charge'],
  options: ToolRunOptions,
): Promise<string[]> {
  const tools = createToolRun({ runId: 'r', ...options }).tools({ charge })
  const answers: string[] = []
  for (const invoice of [1, 2, 3, 4, 5, 6]) {
    answers.push(await tools.charge.execute({ invoice }, { toolCallId: 'c', messages: [] }))
  }
  return answers
}

function twoLogsOnOneFile(): () => ToolCallLog {
  const folder = mkdtempSync(join(tmpdir(), 'smithers-workers-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return () => createSqliteLog({ path: join(folder, 'calls.db') })
}

function oneMemoryLog(): () => ToolCallLog {
  const log = createMemoryLog()
  return () => log
}

describe('callers in one process that do one task at the same time', () => {
  const answers = [1, 2, 3, 4, 5, 6].map((invoice) => `charged ${invoice}`)

  test.each([
    ['one log', oneMemoryLog],
    ['two logs on a file', twoLogsOnOneFile],
  ])('make each charge once: one attempt, %s', async (_, open) => {
    const { charged, charge, letGo } = slowCharge()
    const newLog = open()
    const first = chargeAll(charge, { log: newLog() })
    await nextTurn()
    const second = chargeAll(charge, { log: newLog() })
    await nextTurn()
    letGo()
    expect(await Promise.all([first, second])).toEqual([answers, answers])
    expect(charged).toEqual([1, 2, 3, 4, 5, 6])
  })

  test.each([
    ['one log', oneMemoryLog],
    ['two logs on a file', twoLogsOnOneFile],
  ])('leave what is not yet charged to the next attempt: two attempts, %s', async (_, open) => {
    const { charged, charge, letGo } = slowCharge()
    const newLog = open()
    const first = chargeAll(charge, { log: newLog() })
    const stopped = first.catch((error: unknown) => error)
    await nextTurn()
    const second = chargeAll(charge, { log: newLog(), attempt: 2 })
    await nextTurn()
    letGo()
    expect(await second).toEqual(answers)
    const fenced = { code: 'TOOL_CALL_FENCED', effect: 'none', details: { attempt: 1 } }
    expect(await stopped).toMatchObject(fenced)
    expect(charged).toEqual([1, 2, 3, 4, 5, 6])
  })

  test('make each charge once when the second begins in the middle', async () => {
    const { charged, charge, letGo } = slowCharge()
    letGo()
    const log = createMemoryLog()
    const run = createToolRun({ runId: 'r', log }).tools({ charge })
    const call = { toolCallId: 'c', messages: [] }
    await run.charge.execute({ invoice: 2 }, call)
    const third = run.charge.execute({ invoice: 3 }, call)
    const second = chargeAll(charge, { log, attempt: 2 })
    await third
    expect(await second).toEqual(answers)
    expect(charged).toEqual([2, 3, 1, 4, 5, 6])
  })

  test('repeat with a warning what an attempt that has ended did', async () => {
    const { charged, charge, letGo } = slowCharge()
    letGo()
    const log = createMemoryLog()
    await chargeAll(charge, { log })
    await chargeAll(charge, { log, attempt: 2 })
    expect(charged).toHaveLength(12)
  })
})
