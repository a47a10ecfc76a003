import { createToolRun, defineTool, type OnApproval, type ToolCallLog } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { deferred } from '../fixtures/deferred.ts'
import { logWith } from '../fixtures/log-with.ts'

// Whatever a call waits for may never answer: a log behind a broken network, a person who has gone home, a rule or a check
// that asks a service. The call must end all the same: by its abort, by its own time, and by a default.

const never = new Promise<never>(() => {})

interface Waiting {
  readonly log?: ToolCallLog
  readonly onApproval?: OnApproval
  readonly needsApproval?: boolean | (() => Promise<boolean>)
  readonly check?: () => Promise<boolean>
}

const silent = (method: 'start' | 'list' | 'finish'): ToolCallLog =>
  logWith(() => ({ [method]: () => never }))

const logs = (methods: Partial<ToolCallLog['approvals']>): ToolCallLog =>
  logWith((log) => ({ approvals: { ...log.approvals, ...methods } as never }))

const waits: readonly [string, Waiting][] = [
  ['a log that never lists', { log: silent('list') }],
  ['a log that never starts', { log: silent('start') }],
  ['an approver', { needsApproval: true, onApproval: () => never }],
  ['a rule for approval', { needsApproval: () => never }],
  ['approvals that are never listed', { needsApproval: true, log: logs({ list: () => never }) }],
  ['a request that is never stored', { needsApproval: true, log: logs({ request: () => never }) }],
  ['a check of the schema', { check: () => never }],
]

/** A call that waits, in the second attempt of a run, so that the journal is read first. */
function begin(
  { log = createMemoryLog(), onApproval, needsApproval = false, check }: Waiting,
  times: { toolMs?: number; runMs?: number; logMs?: number; approvalMs?: number } = {},
) {
  const state = { executions: 0 }
  const field = check === undefined ? z.string() : z.string().refine(check)
  const tool = defineTool({
    name: 'pay',
    schema: z.object({ field }),
    sideEffect: true,
    acceptsContext: true,
    needsApproval,
    ...(times.toolMs !== undefined && { timeoutMs: times.toolMs }),
    execute: () => {
      state.executions += 1
      return 'paid'
    },
  })
  const run = createToolRun({
    runId: 'r',
    attempt: 2,
    log,
    onApproval,
    timeoutMs: times.runMs,
    logTimeoutMs: times.logMs,
    approvalTimeoutMs: times.approvalMs,
  })
  const controller = new AbortController()
  const ended = run
    .tools({ tool })
    .tool.execute({ field: 'a' }, { toolCallId: 'c', messages: [], abortSignal: controller.signal })
    .catch((error: unknown) => error as { code: string; effect: string })
  return { ended, controller, state, run, log }
}

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5))

describe('a call that waits for what never answers', () => {
  test.each(waits)('ends when it is aborted: %s', async (_, waiting) => {
    const { ended, controller, state } = begin(waiting)
    await turn()
    controller.abort(new Error('the user left'))
    expect(await ended).toMatchObject({ code: 'TOOL_ABORTED', effect: 'none' })
    expect(state.executions).toBe(0)
  })

  test.each(waits)('ends when the time of its tool is over: %s', async (_, waiting) => {
    const { ended, state } = begin(waiting, { toolMs: 20 })
    const { code } = (await ended) as { code: string }
    expect(['TOOL_TIMEOUT', 'TOOL_APPROVAL_REQUIRED', 'TOOL_LOG_UNAVAILABLE']).toContain(code)
    expect(state.executions).toBe(0)
  })

  test.each(waits)('ends by the bounds of its run: %s', async (_, waiting) => {
    const { ended, state } = begin(waiting, { runMs: 20, logMs: 20, approvalMs: 20 })
    const { code } = (await ended) as { code: string }
    expect(['TOOL_TIMEOUT', 'TOOL_APPROVAL_REQUIRED', 'TOOL_LOG_UNAVAILABLE']).toContain(code)
    expect(state.executions).toBe(0)
  })

  test('has bounds without any option', async () => {
    const { run } = begin({})
    expect(() => createToolRun({ logTimeoutMs: 2 ** 31 })).toThrow(
      /^logTimeoutMs must be .* at most/,
    )
    expect(() => createToolRun({ approvalTimeoutMs: -1 })).toThrow('approvalTimeoutMs must be')
    expect(run.fatal).toBeUndefined()
  })

  test('keeps the request of an approver who did not answer in time, and the late answer', async () => {
    const answer = deferred<{ approved: true; decidedBy: string }>()
    const log = createMemoryLog()
    const { ended } = begin(
      { log, needsApproval: true, onApproval: () => answer.promise },
      { approvalMs: 20 },
    )
    expect(await ended).toMatchObject({ code: 'TOOL_APPROVAL_REQUIRED', effect: 'none' })
    expect(log.approvals.list({})).toMatchObject([{ status: 'pending' }])
    answer.resolve({ approved: true, decidedBy: 'mia' })
    await expect
      .poll(() => log.approvals.list({}), { interval: 1 })
      .toMatchObject([{ status: 'approved', decidedBy: 'mia' }])
  })

  test.each(['abort', 'bound'])(
    'says of a start that was stored too late that the call did not run: %s',
    async (how) => {
      const memory = createMemoryLog()
      const gate = deferred()
      const log: ToolCallLog = {
        ...memory,
        start: async (row, options) => {
          await gate.promise
          return memory.start(row, options)
        },
      }
      const { ended, controller, state } = begin({ log }, how === 'bound' ? { logMs: 20 } : {})
      await turn()
      if (how === 'abort') controller.abort()
      await ended
      expect(memory.snapshot()).toEqual([])
      gate.resolve()
      await turn()
      expect(state.executions).toBe(0)
      expect(memory.list({ toolName: 'pay' })[0]).toMatchObject({ status: 'error', effect: 'none' })
      expect(memory.list({ status: 'started' })).toEqual([])
    },
  )

  test.each(['abort', 'bound'])(
    'gives the output of an effect whose end the log does not take, and ends the run: %s',
    async (how) => {
      const log = silent('finish')
      const { ended, controller, run, state } = begin({ log }, how === 'bound' ? { logMs: 20 } : {})
      await expect.poll(() => state.executions, { interval: 1 }).toBe(1)
      if (how === 'abort') controller.abort()
      expect(await ended).toBe('paid')
      expect(state.executions).toBe(1)
      await expect(run.settle()).rejects.toMatchObject({ code: 'TOOL_LOG_UNAVAILABLE' })
      // The row tells what the log knows: the call began.
      expect(await log.list({ toolName: 'pay' })).toMatchObject([{ status: 'started' }])
    },
  )
})

describe('a read that waits for a log that never answers', () => {
  test('runs without its row', async () => {
    const failures: unknown[] = []
    const read = defineTool({ name: 'read', schema: z.object({}), execute: () => 'text' })
    const run = createToolRun({
      runId: 'r',
      log: silent('start'),
      logTimeoutMs: 20,
      onLogError: (error) => failures.push(error),
    })
    expect(await run.tools({ read }).read.execute({}, { toolCallId: 'c', messages: [] })).toBe(
      'text',
    )
    expect(failures).toMatchObject([{ code: 'TOOL_LOG_UNAVAILABLE' }])
  })
})
