import { createMemoryLog } from '@smithers/log-memory'
import { defineTool, type ToolCallRow } from '@smithers/tool-core'
import { createSmithers, type RunTaskOptions, runTask, runWorkflow } from '@smithers/workflow'
import { beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type Reply, scriptedAgent } from '../fixtures/scripted-agent.ts'

let log = createMemoryLog()
let charged: string[] = []

beforeEach(() => {
  log = createMemoryLog()
  charged = []
})

const charge = defineTool({
  name: 'charge',
  schema: z.object({ amount: z.number() }),
  sideEffect: true,
  idempotent: false,
  onRetry: 'block',
  execute: ({ amount }, ctx) => {
    charged.push(`${amount} in attempt ${ctx.attempt}`)
    return 'charged'
  },
})

const chargeTen = { tool: 'charge', input: { amount: 10 } } as const
const fail = (): never => {
  throw new Error('the provider is down')
}

function attempt(
  replies: readonly (Reply | (() => Reply))[],
  options: Partial<RunTaskOptions<string>> = {},
): ReturnType<typeof runTask> {
  const { agent } = scriptedAgent({ charge }, replies)
  return runTask({ agent, prompt: 'Pay.', runId: 'r', log, backoffMs: 1, ...options })
}

/** The key that the refusal of the last call names. */
function blockedKey(): string {
  const row = log.list({ runId: 'r' }).at(-1) as ToolCallRow
  const { code, details } = JSON.parse(row.errorJson ?? '{}') as {
    code: string
    details: { idempotencyKey: string }
  }
  expect(code).toBe('TOOL_CALL_BLOCKED')
  return details.idempotencyKey
}

describe('runTask with allow', () => {
  test('lets a blocked call run, and no other', async () => {
    await expect(attempt([chargeTen, fail])).rejects.toThrow('the provider is down')
    await attempt([chargeTen, 'It is blocked.'])
    expect(charged).toEqual(['10 in attempt 1'])
    const allow = [blockedKey()]

    await attempt([chargeTen, { tool: 'charge', input: { amount: 11 } }, 'done'], { allow })
    expect(charged).toEqual(['10 in attempt 1', '10 in attempt 3', '11 in attempt 3'])
    await attempt([chargeTen, 'It is blocked again.'])
    expect(charged).toHaveLength(3)
  })

  test('lets it run once, whatever the attempts after it do', async () => {
    await expect(attempt([chargeTen, fail])).rejects.toThrow('the provider is down')
    await attempt([chargeTen, 'It is blocked.'])
    const allow = [blockedKey()]

    await attempt([chargeTen, fail, chargeTen, 'done'], { allow, retries: 1 })
    expect(charged).toEqual(['10 in attempt 1', '10 in attempt 3'])
  })

  test('keeps the permission for the attempt that needs it', async () => {
    await expect(attempt([chargeTen, fail])).rejects.toThrow('the provider is down')
    await attempt([chargeTen, 'It is blocked.'])
    const allow = [blockedKey()]

    await attempt([fail, chargeTen, 'done'], { allow, retries: 1 })
    expect(charged).toEqual(['10 in attempt 1', '10 in attempt 4'])
  })
})

describe('runWorkflow with allow', () => {
  test('lets a call run that the run was blocked by', async () => {
    const { Workflow, Task, smithers, outputs } = createSmithers({
      payment: z.object({ paid: z.boolean() }),
    })
    const scripts: (Reply | (() => Reply))[][] = [
      [chargeTen, fail],
      [chargeTen, '{"paid":"no"}'],
      [chargeTen, '{"paid":true}'],
    ]
    const workflow = smithers(() => {
      const { agent } = scriptedAgent({ charge }, scripts.shift() ?? [])
      return (
        <Workflow name="bill">
          <Task id="pay" output={outputs.payment} agent={agent} repairs={0}>
            Pay.
          </Task>
        </Workflow>
      )
    })
    const options = { runId: 'r', log }
    await expect(runWorkflow(workflow, options)).rejects.toThrow('the provider is down')
    await expect(runWorkflow(workflow, options)).rejects.toMatchObject({
      code: 'TASK_OUTPUT_INVALID',
    })
    expect(charged).toEqual(['10 in attempt 1'])

    const result = await runWorkflow(workflow, { ...options, allow: [blockedKey()] })
    expect(result.outputs).toEqual({ payment: { paid: true } })
    expect(charged).toEqual(['10 in attempt 1', '10 in attempt 3'])
  })
})
