import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createToolRun, defineTool, withGates } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'

class NoSuchToolError extends Error {
  override readonly name = 'AI_NoSuchToolError'
}

function surroundings() {
  const log = createMemoryLog()
  const effects: string[] = []
  const run = createToolRun({ runId: 'r', log })
  const note = defineTool({
    name: 'note',
    schema: z.object({ text: z.string() }),
    sideEffect: true,
    idempotent: false,
    logInput: ({ text }) => ({ bytes: text.length }),
    execute: ({ text }, ctx) => {
      effects.push(`${text} ${ctx.seq}`)
      return 'noted'
    },
  })
  const stream = defineTool({
    name: 'stream',
    schema: z.object({ n: z.number() }),
    async *execute({ n }) {
      effects.push(`stream ${n}`)
      yield n
    },
  })
  run.tools({ note, stream, plain: { execute: () => effects.push('plain') } })
  const refused = (toolName: string, input: unknown, error: Error = new Error('secret text')) => ({
    type: 'tool-call',
    toolCallId: `call-${toolName}`,
    toolName,
    input,
    invalid: true,
    error,
  })
  const rows = () =>
    log.list({}).map(({ toolName, status, effect, inputJson, errorJson, seq, toolCallId }) => {
      const { code, message } = JSON.parse(errorJson ?? '{}') as { code: string; message: string }
      return { toolName, status, effect, inputJson, code, message, seq, toolCallId }
    })
  return { log, run, note, effects, refused, rows }
}

describe('run.record', () => {
  test('leaves one row of a call whose arguments do not fit, with what is wrong and without what must not be kept', async () => {
    const { run, rows, refused, effects } = surroundings()
    await run.record({ toolCalls: [refused('note', { text: 7, secret: 'kept nowhere' })] })
    await run.record({ toolCalls: [refused('note', '{"text": "kept now')] })
    expect(rows()).toMatchObject([
      {
        toolName: 'note',
        status: 'error',
        effect: 'none',
        code: 'INVALID_INPUT',
        message: expect.stringContaining('text: Invalid input: expected string, received number'),
        seq: 1,
        toolCallId: 'call-note',
      },
      { seq: 2, code: 'INVALID_INPUT' },
    ])
    expect(JSON.stringify(rows())).not.toContain('kept')
    expect(effects).toEqual([])
  })

  test('never runs a call that was refused, even when the schema has nothing against it', async () => {
    const { run, rows, refused, effects } = surroundings()
    await run.record({
      toolCalls: [
        refused('note', { text: 'fits' }),
        refused('note', { text: 'not now' }, new NoSuchToolError('secret text')),
        refused('stream', { n: 1 }),
        refused('plain', {}),
      ],
    })
    expect(effects).toEqual([])
    expect(rows().map(({ toolName, code }) => [toolName, code])).toEqual([
      ['note', 'INVALID_INPUT'],
      ['note', 'TOOL_NOT_FOUND'],
      ['stream', 'INVALID_INPUT'],
    ])
    expect(JSON.stringify(rows())).not.toContain('secret text')
  })

  test('leaves one row of a call of an unknown tool, with the shape of its arguments', async () => {
    const { run, rows, refused } = surroundings()
    const error = new NoSuchToolError('no such tool')
    await run.record({
      toolCalls: [refused('fly', { to: 'the moon' }, error), refused('x'.repeat(500), {}, error)],
    })
    const [first, second] = rows()
    expect(first).toMatchObject({
      toolName: 'fly',
      status: 'error',
      effect: 'none',
      code: 'TOOL_NOT_FOUND',
      message: 'Unknown tool "fly". The tools are note, stream, plain.',
    })
    expect(first?.inputJson).toContain('string of 8 bytes')
    expect(second?.toolName).toHaveLength(65)
  })

  test('leaves alone what has reached its tool, and what is no call', async () => {
    const { run, rows } = surroundings()
    const call = { type: 'tool-call', toolCallId: 'a', toolName: 'note', input: { text: 1 } }
    await run.record({ toolCalls: [call, { ...call, invalid: false }, null, 'call', {}] })
    expect(rows()).toEqual([])
  })

  test('asks no approval for a refused call and counts it against no limit', async () => {
    const { log, note, refused } = surroundings()
    const run = createToolRun({ runId: 'gated', log })
    const tools = run.tools({
      note: withGates(note, { maxExecutionsPerRun: 1, needsApproval: true }),
    })
    await run.record({ toolCalls: [refused('note', { text: 'fits' })] })
    expect(await log.approvals?.list({})).toEqual([])
    await expect(
      tools.note.execute({ text: 'x' }, { toolCallId: 'b', messages: [] }),
    ).rejects.toMatchObject({ code: 'TOOL_APPROVAL_REQUIRED' })
  })
})
