import { generateText, stepCountIs } from 'ai'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  createToolRun,
  defineTool,
  type OnRetry,
  type ToolCallLog,
  type ToolCallRow,
  type ToolRun,
  type ToolRunOptions,
} from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { callOptions } from '../fixtures/charge-tool.ts'
import { scriptedModel } from '../fixtures/scripted-model.ts'

const marker = '[smithers:tool-resume-warning]'

/** A tool that gives an output; two attempts call it. */
async function twice(
  output: unknown,
  options: ToolRunOptions = {},
  settings: { readonly logOutput?: (output: unknown) => unknown } = {},
): Promise<{ answers: unknown[]; runs: number; rows: ToolCallRow[] }> {
  let runs = 0
  const pay = defineTool({
    name: 'pay',
    schema: z.object({}),
    sideEffect: true,
    onRetry: 'reuse',
    warn: () => {},
    execute: async (_args, _ctx): Promise<unknown> => {
      runs += 1
      return output
    },
    ...settings,
  })
  const log = createMemoryLog()
  const answers: unknown[] = []
  for (const attempt of [1, 2]) {
    const run = createToolRun({ runId: 'r', log, attempt, ...options })
    answers.push(await run.tools({ pay }).pay.execute({}, callOptions()))
  }
  return { answers, runs, rows: log.snapshot() }
}

describe('onRetry: reuse', () => {
  const replace = (path: string, value: unknown): unknown => (path === '$.card' ? '***' : value)
  const url = new URL('https://shop.test/order/1')

  test.each([
    ['something was replaced', { card: '4242' }, { redact: { replace } }],
    ['something was hidden', { password: 'x' }, {}],
    ['a secret of the run was hidden', 'key s3cr3t', { redact: { values: ['s3cr3t'] } }],
    ['it is an error', new TypeError('declined'), {}],
    ['it holds an error', { failed: [new TypeError('declined')] }, {}],
    ['it has a JSON form of its own', url, {}],
    ['it was cut', 'x'.repeat(2000), { maxOutputBytes: 500 }],
    ['it is described', { undo: () => 1 }, {}],
  ] as const)(
    'runs again when the output was not recorded whole: %s',
    async (_why, output, run) => {
      const { answers, runs, rows } = await twice(output, run)
      expect(runs).toBe(2)
      for (const answer of answers) expect(answer).toBe(output)
      expect(rows.map((row) => row.outputExact ?? false)).toEqual([false, false])
    },
  )

  test('runs again when what is recorded is what a mapper made of the output', async () => {
    const { answers, runs } = await twice('4242', {}, { logOutput: () => 'four digits' })
    expect([answers, runs]).toEqual([['4242', '4242'], 2])
  })

  test.each([
    ['the mark of something hidden, as a text', 'a line with [redacted] in it'],
    ['what looks like a cut record', { $truncated: true, note: '{"$described":"x"}' }],
    ['values that JSON lacks', { at: new Date(5), many: 7n, none: [undefined], bad: NaN }],
  ])('returns a recorded output that is whole: %s', async (_what, output) => {
    const { answers, runs, rows } = await twice(output)
    expect(runs).toBe(1)
    expect(answers[1]).toEqual(output)
    expect(rows).toMatchObject([
      { outputExact: true },
      { outputExact: true, replayOf: rows[0] && expect.any(String) },
    ])
  })

  test('runs again after a log that does not say whether a record is whole', async () => {
    const log = createMemoryLog()
    const forgetful: ToolCallLog = {
      ...log,
      list: (query) => log.list(query).map(({ outputExact: _forgotten, ...row }) => row),
    }
    const { runs } = await twice('paid', { log: forgetful })
    expect(runs).toBe(2)
  })
})

describe('a call that reuse could not answer', () => {
  async function shownIn(run: ToolRun, idempotent: boolean): Promise<string> {
    const fetchPage = defineTool({
      name: 'page',
      schema: z.object({}),
      sideEffect: true,
      idempotent,
      onRetry: 'reuse' satisfies OnRetry,
      warn: () => {},
      execute: async (_args, _ctx) => 'x'.repeat(2000),
    })
    const model = scriptedModel([[{ id: 'call', tool: 'fetchPage', input: {} }]])
    await generateText({
      model,
      prompt: 'go',
      tools: run.tools({ fetchPage }),
      stopWhen: stepCountIs(2),
    })
    return JSON.stringify(model.doGenerateCalls.at(-1)?.prompt.at(-1))
  }

  test.each([false, true])(
    'tells the agent that it ran again, also one that was warned (idempotent: %s)',
    async (idempotent) => {
      const log = createMemoryLog()
      const options = { runId: 'r', log, maxOutputBytes: 500 }
      expect(await shownIn(createToolRun({ ...options, attempt: 1 }), idempotent)).not.toContain(
        marker,
      )
      const run = createToolRun({ ...options, attempt: 2 })
      await run.retryWarning()
      const shown = await shownIn(run, idempotent)
      expect(shown).toContain(marker)
      expect(shown).toContain('was not recorded whole')
      expect(shown).toContain(log.snapshot()[0]?.idempotencyKey)
    },
  )
})
