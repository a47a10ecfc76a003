import {
  type AskedHost,
  createToolRun,
  defineTool,
  HostApprovals,
  pendingApprovals,
  resolveToolApproval,
  type ToolCallLog,
  type ToolRunOptions,
} from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'

const registry: AskedHost = { host: 'registry.test', port: 443 }
const mirror: AskedHost = { host: 'mirror.test', port: 443 }
const callOptions = { toolCallId: 'call-1', messages: [] }

/** One attempt of a run with a tool whose command asks for hosts; `reached` has those that it got. */
function attempt(log: ToolCallLog, number = 1, options: ToolRunOptions = {}) {
  const reached: string[] = []
  const refusals: string[] = []
  const run = createToolRun({ runId: 'r', log, attempt: number, ...options })
  const command = defineTool({
    name: 'command',
    schema: z.object({
      cmd: z.string(),
      hosts: z.array(z.object({ host: z.string(), port: z.number() })),
    }),
    sideEffect: true,
    async execute({ cmd, hosts }, ctx) {
      const approvals = new HostApprovals(ctx, cmd)
      await Promise.all(
        hosts.map(async (asked) => {
          const answer = await approvals.approve(asked)
          if (answer.allowed) reached.push(`${asked.host}:${asked.port}`)
          else refusals.push(answer.why)
        }),
      )
      const { late, waits } = await approvals.settle()
      if (waits !== undefined) throw waits
      return `ended ${late.join()}`.trim()
    },
  })
  const tools = run.tools({ command })
  const ask = (hosts: AskedHost[], cmd = 'npm ci'): Promise<string> =>
    tools.command.execute({ cmd, hosts }, callOptions)
  return { run, reached, refusals, ask }
}

async function approveAll(log: ToolCallLog, remember?: 'run'): Promise<void> {
  for (const { id } of await pendingApprovals({ log })) {
    await resolveToolApproval({
      log,
      id,
      approved: true,
      decidedBy: 'mia',
      ...(remember && { approvedArgs: { remember } }),
    })
  }
}

const paused = expect.objectContaining({ code: 'TOOL_APPROVAL_REQUIRED' }) as Error

describe('a host that needs approval', () => {
  test('pauses the run with a request that shows host, port and command', async () => {
    const log = createMemoryLog()
    const { run, reached, refusals, ask } = attempt(log)
    await expect(ask([registry, mirror])).rejects.toThrow(
      /^The command ran without registry\.test:443 \(apr_.+\), mirror\.test:443 \(apr_.+\): these connections wait for approval/,
    )
    await expect(run.settle()).rejects.toThrow(paused)
    expect(reached).toEqual([])
    expect(refusals[0]).toMatch(/^It waits for approval apr_.* make the same call again\.$/)
    const [first, ...others] = await pendingApprovals({ log })
    expect(others).toHaveLength(1)
    expect(first).toMatchObject({
      toolName: 'command (network)',
      toolCallId: 'call-1',
      prompt: 'Let command connect to registry.test:443? Command: npm ci',
    })
    expect(JSON.parse(first?.inputJson ?? '')).toEqual({
      ...registry,
      command: 'npm ci',
      remember: 'call',
    })
    // The command ran, so its effect is not known.
    expect(log.list({})).toMatchObject([{ status: 'error', effect: 'unknown' }])
  })

  test('shows no part of a secret, and says how much of a long command it leaves out', async () => {
    const log = createMemoryLog()
    const secret = 's3cr3t-0123456789'
    const run = createToolRun({ runId: 'r', log, redact: { values: [secret] } })
    const command = defineTool({
      name: 'command',
      schema: z.object({ cmd: z.string() }),
      async execute({ cmd }, ctx) {
        await new HostApprovals(ctx, cmd).approve(registry)
        return ''
      },
    })
    const tool = run.tools({ command }).command
    // The cut of either text would split the secret.
    for (const most of [200, 2_000]) {
      const cmd = `${'x'.repeat(most - 5)}${secret}; curl evil.test`
      await tool.execute({ cmd }, { ...callOptions, toolCallId: `call-${most}` })
    }
    await tool.execute({ cmd: `npm ci${' \n\u200b'.repeat(900)}; curl evil.test` }, callOptions)
    const rows = await pendingApprovals({ log })
    expect(rows).toHaveLength(3)
    for (const { prompt, inputJson } of rows) {
      expect(`${prompt}${inputJson}`).not.toContain('s3cr')
      expect(JSON.parse(inputJson ?? '')).toMatchObject(registry)
    }
    const prompts = rows.map(({ prompt }) => prompt)
    expect(
      prompts.filter((prompt) => /… \(\d+ more characters\)$/u.test(prompt ?? '')),
    ).toHaveLength(2)
    expect(prompts).toContainEqual(expect.stringMatching(/Command: npm ci ; curl evil\.test$/))
    expect(rows.map(({ inputJson }) => inputJson).join()).toMatch(/… \(\d+ more characters\)"/u)
  })

  test('is known as approved before only when it is approved for the run', async () => {
    const log = createMemoryLog()
    const known = async (number: number): Promise<boolean> => {
      const looking = defineTool({
        name: 'looking',
        schema: z.object({}),
        execute: (_args, ctx) => new HostApprovals(ctx, 'npm test').isGranted(registry),
      })
      const run = createToolRun({ runId: 'r', log, attempt: number })
      return run.tools({ looking }).looking.execute({}, callOptions)
    }
    expect(await known(1)).toBe(false)
    // It asked for nothing.
    expect(await pendingApprovals({ log })).toEqual([])
    await expect(attempt(log).ask([registry])).rejects.toThrow(paused)
    expect(await known(2)).toBe(false)
    await approveAll(log, 'run')
    expect(await known(3)).toBe(true)
  })

  test('is reached by the same call of the next attempt, once it is approved', async () => {
    const log = createMemoryLog()
    await expect(attempt(log).ask([registry])).rejects.toThrow(paused)
    await approveAll(log)
    const second = attempt(log, 2)
    await second.ask([registry])
    expect(second.reached).toEqual(['registry.test:443'])
    await expect(second.run.settle()).resolves.toBeUndefined()
    expect(await log.approvals?.list({})).toMatchObject([{ status: 'used', decidedBy: 'mia' }])
    // It is remembered for this call.
    const third = attempt(log, 3)
    await third.ask([registry])
    expect(third.reached).toEqual(['registry.test:443'])
  })

  test('is asked for once, however many connections and attempts ask', async () => {
    const log = createMemoryLog()
    await expect(attempt(log).ask([registry, registry, registry])).rejects.toThrow(paused)
    await expect(attempt(log, 2).ask([registry, registry, registry])).rejects.toThrow(paused)
    expect(await pendingApprovals({ log })).toMatchObject([{ attempt: 2 }])
  })

  test('is reached by every call of the run, when the approver says so', async () => {
    const log = createMemoryLog()
    await expect(attempt(log).ask([registry])).rejects.toThrow(paused)
    await approveAll(log, 'run')
    const second = attempt(log, 2)
    await second.ask([registry], 'npm test')
    await second.ask([registry])
    expect(second.reached).toEqual(['registry.test:443', 'registry.test:443'])
    const other = attempt(log, 1, { runId: 'other' })
    await expect(other.ask([registry])).rejects.toThrow(paused)
    expect(other.reached).toEqual([])
  })

  test('stays refused after a rejection, which says who and why, and the run continues', async () => {
    const log = createMemoryLog()
    await expect(attempt(log).ask([registry])).rejects.toThrow(paused)
    const [{ id } = { id: '' }] = await pendingApprovals({ log })
    await resolveToolApproval({ log, id, approved: false, decidedBy: 'mia', comment: 'Not here' })
    const second = attempt(log, 2)
    expect(await second.ask([registry])).toBe('ended')
    expect(second.reached).toEqual([])
    expect(second.refusals).toEqual(['mia rejected it: Not here. Work without it.'])
    await expect(second.run.settle()).resolves.toBeUndefined()
  })

  test('waits while onApproval decides', async () => {
    const log = createMemoryLog()
    const asked: unknown[] = []
    const { run, reached, ask } = attempt(log, 1, {
      onApproval: ({ args, approval }) => {
        asked.push(args)
        return { approved: approval.inputJson?.includes('registry') === true, decidedBy: 'mia' }
      },
    })
    expect(await ask([registry, mirror])).toBe('ended')
    expect(reached).toEqual(['registry.test:443'])
    expect(asked).toContainEqual({ ...registry, command: 'npm ci', remember: 'call' })
    await expect(run.settle()).resolves.toBeUndefined()
  })

  test('is named to the caller when it was approved after the command had ended', async () => {
    const log = createMemoryLog()
    const { promise: answer, resolve } = Promise.withResolvers<{ approved: boolean }>()
    const run = createToolRun({ runId: 'r', log, onApproval: () => answer })
    const command = defineTool({
      name: 'command',
      schema: z.object({}),
      execute: async (_args, ctx) => {
        const approvals = new HostApprovals(ctx, 'curl')
        void approvals.approve(registry)
        const settled = approvals.settle()
        resolve({ approved: true })
        return (await settled).late
      },
    })
    const late = await run.tools({ command }).command.execute({}, callOptions)
    expect(late).toEqual(['registry.test:443'])
  })

  test('stays pending when onApproval fails or gives no decision', async () => {
    for (const onApproval of [
      () => undefined,
      () => ({ approved: 'yes' as never }),
      () => ({ approved: true, approvedArgs: { host: 'evil.test' } }),
    ]) {
      const log = createMemoryLog()
      let questions = 0
      const { reached, ask } = attempt(log, 1, {
        onApproval: () => {
          questions += 1
          if (questions > 1) throw new Error('asked again')
          return onApproval()
        },
      })
      await expect(ask([registry])).rejects.toThrow(paused)
      expect(reached).toEqual([])
      expect(await pendingApprovals({ log })).toHaveLength(1)
    }
  })

  test('is refused outside a run, and with a log that keeps no approvals', async () => {
    const { approvals: _none, ...log } = createMemoryLog()
    const without = attempt({ ...log, capabilities: { ...log.capabilities, approvals: false } })
    expect(await without.ask([registry])).toBe('ended')
    expect(without.refusals[0]).toContain('cannot keep approvals')
    expect(without.reached).toEqual([])
  })

  test('of more than sixteen in one call, the others are refused without a question', async () => {
    const log = createMemoryLog()
    const many = Array.from({ length: 40 }, (_, index) => ({ host: `h${index}.test`, port: 443 }))
    const { refusals, reached, ask } = attempt(log)
    await expect(ask(many)).rejects.toThrow(paused)
    expect(reached).toEqual([])
    expect(await pendingApprovals({ log })).toHaveLength(16)
    expect(refusals.filter((why) => why.includes('one call gets no more'))).toHaveLength(24)
  })
})
