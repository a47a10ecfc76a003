import type { ModelMessage } from 'ai'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import {
  createToolRun,
  defineTool,
  type ToolCallLog,
  type ToolRunOptions,
  SmithersError,
} from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { callOptions, createChargeTool } from '../fixtures/charge-tool.ts'
import { createLateLog } from '../fixtures/late-log.ts'
import { StripeLikeProvider } from '../fixtures/provider.ts'

const marker = '[smithers:tool-resume-warning]'
const empty = z.object({})
const fails = (name: string, error: Error) =>
  defineTool({
    name,
    schema: z.object({ to: z.string() }),
    sideEffect: true,
    execute: async (_args, _ctx) => {
      throw error
    },
  })
const tools = {
  charge: createChargeTool(new StripeLikeProvider()),
  mail: fails('mail', new TypeError('socket hang up')),
  decline: fails('decline', new SmithersError('TOOL_COMMAND_FAILED', 'no', { effect: 'none' })),
  read: defineTool({ name: 'read', schema: empty, execute: () => 1 }),
  upsert: defineTool({
    name: 'upsert',
    schema: empty,
    sideEffect: true,
    idempotent: true,
    execute: () => 1,
  }),
  edit: defineTool({
    name: 'edit',
    schema: empty,
    sideEffect: true,
    effectScope: 'workspace',
    execute: (_args, _ctx) => 1,
  }),
  bash: defineTool({
    name: 'bash',
    schema: z.object({ cmd: z.string() }),
    sideEffect: true,
    effectScope: ({ allowNetwork }) => (allowNetwork ? 'external' : 'workspace'),
    execute: (_args, _ctx) => 1,
  }),
}

async function firstAttempt(log: ToolCallLog): Promise<void> {
  const bound = createToolRun({ runId: 'r', log }).tools(tools)
  await bound.charge.execute({ customer: 'ann', amount: 100 }, callOptions())
  await bound.mail.execute({ to: 'bob' }, callOptions()).catch(() => {})
  await bound.decline.execute({ to: 'eve' }, callOptions()).catch(() => {})
  await bound.charge.execute({ customer: 'cat', amount: 5 }, callOptions())
  await bound.charge.execute({} as never, callOptions()).catch(() => {})
  await bound.read.execute({}, callOptions())
  await bound.upsert.execute({}, callOptions())
  await bound.edit.execute({}, callOptions())
  await bound.bash.execute({ cmd: 'make' }, callOptions())
}

async function secondAttempt(options: ToolRunOptions = {}) {
  const log = createMemoryLog()
  await firstAttempt(log)
  return { log, run: createToolRun({ runId: 'r', log, attempt: 2, ...options }) }
}

describe('run.retryWarning', () => {
  test('is null on a first attempt, and when earlier attempts had no such effect', async () => {
    const log = createMemoryLog()
    const run = createToolRun({ runId: 'r', log })
    expect(run.retryWarning()).toBeNull()
    await run.tools(tools).read.execute({}, callOptions())
    expect(createToolRun({ runId: 'r', log, attempt: 2 }).retryWarning()).toBeNull()
  })

  test('lists external effects, the unknown first and the newest first, and sums up the workspace', async () => {
    const { log, run } = await secondAttempt()
    const [first, , ...lines] = (await run.retryWarning())?.split('\n') ?? []
    expect(first).toBe(marker)
    const key = (seq: number): string | null | undefined => log.snapshot()[seq - 1]?.idempotencyKey
    const timeless = lines.map((line) => line.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/, 'TIME'))
    expect(timeless).toEqual([
      `- mail {"to":"bob"} · TIME · UNKNOWN: it ended with TypeError and may have happened · key ${key(2)}`,
      `- charge {"customer":"cat","amount":5} · TIME · succeeded · key ${key(4)}`,
      `- charge {"customer":"ann","amount":100} · TIME · succeeded · key ${key(1)}`,
      '- 2 in the workspace (edit ×1, bash ×1): see git diff.',
    ])
  })

  test.each([
    [true, false, '- bash {"cmd":"make"} · '],
    [false, true, '(bash ×1): see git diff.'],
  ])(
    'places a command where it landed when it ran: network %s, and %s for the attempt that is warned',
    async (then, now, line) => {
      const log = createMemoryLog()
      const first = createToolRun({ runId: 'r', log, allowNetwork: then }).tools(tools)
      await first.bash.execute({ cmd: 'make' }, callOptions())
      const run = createToolRun({ runId: 'r', log, attempt: 2, allowNetwork: now })
      expect(await run.retryWarning()).toContain(line)
    },
  )

  test.each([
    ['the log does not say', undefined],
    ['the tool cannot say', () => throwing()],
    ['the tool says nonsense', () => 'inside' as never],
  ])('counts an effect as external when %s where it landed', async (_why, effectScope) => {
    const log = createMemoryLog()
    const act = defineTool({
      name: 'act',
      schema: empty,
      sideEffect: true,
      effectScope: effectScope ?? 'workspace',
      execute: (_args, _ctx) => 1,
    })
    await createToolRun({ runId: 'r', log }).tools({ act }).act.execute({}, callOptions())
    const older: ToolCallLog = {
      ...log,
      list: (query) => log.list(query).map(({ effectScope: _older, ...row }) => row),
    }
    const run = createToolRun({
      runId: 'r',
      log: effectScope === undefined ? older : log,
      attempt: 2,
    })
    expect(await run.retryWarning()).toContain('- act {} · ')
  })

  test('says when the key was first used, since services forget keys', async () => {
    const log = createMemoryLog()
    vi.useFakeTimers({ toFake: ['Date'] })
    for (const attempt of [1, 2, 3]) {
      vi.setSystemTime(attempt * 1_000_000)
      const bound = createToolRun({ runId: 'r', log, attempt }).tools(tools)
      await bound.mail.execute({ to: 'bob' }, callOptions()).catch(() => {})
    }
    vi.useRealTimers()
    const warning = await createToolRun({ runId: 'r', log, attempt: 4 }).retryWarning()
    expect(warning?.match(/^- mail.*$/gm)).toEqual([
      expect.stringContaining(new Date(1_000_000).toISOString()),
    ])
  })

  test('fits its limit in bytes and says how many it left out', async () => {
    const log = createMemoryLog()
    const bound = createToolRun({ runId: 'r', log }).tools(tools)
    for (let n = 1; n <= 50; n += 1) {
      await bound.charge.execute({ customer: '€'.repeat(n), amount: n }, callOptions())
    }
    const run = createToolRun({ runId: 'r', log, attempt: 2, maxWarningBytes: 2000 })
    const warning = (await run.retryWarning()) ?? ''
    expect(Buffer.byteLength(warning)).toBeLessThanOrEqual(2000)
    const listed = warning.match(/^- charge/gm)?.length ?? 0
    expect(listed).toBeGreaterThan(3)
    expect(warning).toMatch(new RegExp(`- and ${50 - listed} more$`))
  })

  test('does not show secrets of the arguments', async () => {
    const log = createMemoryLog()
    const login = defineTool({
      name: 'login',
      schema: z.object({ password: z.string() }),
      sideEffect: true,
      execute: (_args, _ctx) => 1,
    })
    const bound = createToolRun({ runId: 'r', log }).tools({ login })
    await bound.login.execute({ password: 'hunter2' }, callOptions())
    const warning = await createToolRun({ runId: 'r', log, attempt: 2 }).retryWarning()
    expect(warning).toContain('[redacted]')
    expect(warning).not.toContain('hunter2')
  })

  test('does not speak of another node or iteration, nor of a call that was refused', async () => {
    const { log, run } = await secondAttempt({ safety: 'strict' })
    const bound = run.tools(tools)
    const again = bound.charge.execute({ customer: 'ann', amount: 100 }, callOptions())
    await expect(again).rejects.toMatchObject({ code: 'TOOL_CALL_BLOCKED' })
    const third = await createToolRun({ runId: 'r', log, attempt: 3 }).retryWarning()
    expect(third?.match(/"ann"/g)).toHaveLength(1)
    expect(createToolRun({ runId: 'r', log, attempt: 2, nodeId: 'x' }).retryWarning()).toBeNull()
    expect(createToolRun({ runId: 'r', log, attempt: 2, iteration: 1 }).retryWarning()).toBeNull()
  })

  test('is a promise with a log that answers later', async () => {
    const memory = createMemoryLog()
    await firstAttempt(memory)
    const run = createToolRun({ runId: 'r', log: createLateLog(memory), attempt: 2 })
    expect(await run.retryWarning()).toContain(marker)
  })
})

describe('run.messages', () => {
  const question: ModelMessage = { role: 'user', content: 'charge ann and cat' }

  test('adds the warning as the last message, once', async () => {
    const { run } = await secondAttempt()
    const once = await run.messages([question])
    expect(once).toMatchObject([question, { role: 'user', content: await run.retryWarning() }])
    const stored = JSON.parse(JSON.stringify(once)) as ModelMessage[]
    expect(await run.messages(stored)).toEqual(once)
  })

  test('is not kept from it by a text of the user that holds the marker', async () => {
    const { run } = await secondAttempt()
    const quoting: ModelMessage = { role: 'user', content: `${marker} what is that?` }
    const messages = await run.messages([quoting])
    expect(messages).toHaveLength(2)
    expect(messages[0]).toBe(quoting)
  })

  test('removes the warning of an earlier attempt when there is nothing to warn of', async () => {
    const { run } = await secondAttempt()
    const warned = await run.messages([question])
    expect(await createToolRun({ runId: 'other' }).messages(warned)).toEqual([question])
  })

  test('leaves the answer to an approval the last message', async () => {
    const { run } = await secondAttempt()
    const approval: ModelMessage[] = [
      question,
      {
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId: 'c', toolName: 'charge', input: {} }],
      },
      {
        role: 'tool',
        content: [{ type: 'tool-approval-response', approvalId: 'a', approved: true }],
      },
    ]
    const messages = await run.messages(approval)
    expect(messages.map(({ role }) => role)).toEqual(['user', 'user', 'assistant', 'tool'])
  })
})

function throwing(): never {
  throw new Error('no scope')
}
