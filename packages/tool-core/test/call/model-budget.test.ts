import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createToolRun, defineTool, SmithersError } from '@smithers/tool-core'
import { archiveKey } from '@smithers/tool-core/log'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { fitBudget } from '../../src/call/fit-budget.ts'

const call = { toolCallId: 'call_1', messages: [] }
const lines = Array.from({ length: 5_000 }, (_, n) => `line ${n}`).join('\n')

type Shown = { readonly type: string; readonly value: string }
interface Showing {
  readonly toModelOutput: (given: unknown) => Shown
}

/** A tool that answers or fails with a text, and what the model is shown of either. */
function printer(
  options: object,
  others: Readonly<Record<string, unknown>> = {},
  run: object = {},
) {
  const log = createMemoryLog()
  const print = defineTool({
    name: 'print',
    schema: z.object({ text: z.string(), fails: z.boolean() }),
    modelBudget: { maxBytes: 1_000, maxLines: 100 },
    execute: ({ text, fails }) => {
      if (fails) throw new SmithersError('TOOL_COMMAND_FAILED', text, { details: { exitCode: 3 } })
      return text
    },
    ...options,
  })
  const tools = createToolRun({ runId: 'r', log, ...run }).tools({ print, ...others })
  return {
    log,
    tools,
    shown: (text: string) => {
      const given = { toolCallId: call.toolCallId, input: { text, fails: false }, output: text }
      return (tools.print as unknown as Showing).toModelOutput(given)
    },
    failure: (text: string): Promise<SmithersError> =>
      tools.print.execute({ text, fails: true }, call).then(
        () => expect.fail('it did not fail'),
        (error: unknown) => error as SmithersError,
      ),
  }
}

const reader = defineTool({ name: 'get_tool_response', schema: z.object({}), execute: () => '' })

describe('the budget of what a model reads', () => {
  it('shows the beginning and the end of a long output, and leaves the output itself whole', async () => {
    const { shown, tools } = printer({})
    const { type, value } = shown(lines)
    expect(type).toBe('text')
    expect(Buffer.byteLength(value)).toBeLessThanOrEqual(1_000)
    expect(value).toMatch(
      /^line 0\n[^]*\n\[… \d+ of 48889 bytes \(\d+ lines\) are not shown here\. Ask for a smaller part\. …\]\n[^]*line 4999$/,
    )
    expect(await tools.print.execute({ text: lines, fails: false }, call)).toBe(lines)
  })

  it('counts lines as well as bytes', () => {
    const { shown } = printer({ modelBudget: { maxLines: 10 } })
    expect(shown('x\n'.repeat(10)).value).toBe('x\n'.repeat(10))
    const [head, tail] = shown('x\n'.repeat(500)).value.split(/\[….*…\]\n/u)
    expect([head, tail]).toEqual(['x\n'.repeat(5), 'x\n'.repeat(5)])
  })

  it('covers errors, which keep class, code and details', async () => {
    const { failure, log } = printer({})
    const error = await failure(`It failed. Output:\n${lines}`)
    expect(error).toBeInstanceOf(SmithersError)
    expect(error).toMatchObject({ code: 'TOOL_COMMAND_FAILED', details: { exitCode: 3 } })
    expect(Buffer.byteLength(error.message)).toBeLessThanOrEqual(1_000)
    expect(error.message).toMatch(/^It failed\. Output:\nline 0\n[^]*line 4999$/)
    // The log has all of it.
    expect(log.snapshot()[0]?.errorJson).toContain('line 2500')
  })

  it('names the tool that reads the rest only where the agent has it, by the name it has there', async () => {
    const without = printer({})
    expect(without.shown(lines).value).not.toContain('get_tool_response')
    expect((await without.failure(lines)).message).not.toContain('get_tool_response')
    const { shown, failure } = printer({}, { rest: reader })
    const [, offset] = /with rest: \{"id":"call_1","offset":(\d+)\}/u.exec(shown(lines).value) ?? []
    expect(lines.slice(0, Number(offset)).endsWith('\n')).toBe(true)
    expect(shown(lines).value.startsWith(`${lines.slice(0, Number(offset))}[…`)).toBe(true)
    expect((await failure(lines)).message).toMatch(/with rest: \{"id":"[^"]+","offset":\d+\}/)
  })

  it('does not name it for a tool whose outputs the log may not see', () => {
    const { shown } = printer({ logOutput: () => 'hidden' }, { get_tool_response: reader })
    expect(shown(lines).value).not.toContain('get_tool_response')
  })

  it('keeps the whole message of an error where that tool finds it', async () => {
    const { failure, log } = printer({}, { get_tool_response: reader })
    const { message } = await failure(lines)
    const [, id = '', offset] = /"id":"([^"]+)","offset":(\d+)/u.exec(message) ?? []
    const kept = await log.state.get('r', archiveKey(id))
    const { text } = JSON.parse(kept?.valueJson ?? '{}') as { readonly text: string }
    expect(text).toBe(lines)
    expect(message.startsWith(text.slice(0, Number(offset)))).toBe(true)
  })

  it('gives way to maxInlineOutputBytes of the run, which covers errors of every tool', async () => {
    const { shown, failure, tools } = printer({}, {}, { maxInlineOutputBytes: 400 })
    const cut = await tools.print.execute({ text: lines, fails: false }, call)
    expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(400)
    expect(shown(cut).value).toBe(cut)
    expect(Buffer.byteLength((await failure(lines)).message)).toBeLessThanOrEqual(400)
    const plain = printer({ modelBudget: undefined }, {}, { maxInlineOutputBytes: 400 })
    expect(Buffer.byteLength((await plain.failure(lines)).message)).toBeLessThanOrEqual(400)
    const answer = await plain.tools.print.execute({ text: lines, fails: false }, call)
    expect(answer).toMatch(/bytes are not shown\.\]$/)
  })

  it.each([
    ['streams', { execute: async function* () {} }, {}],
    ['may not be seen whole by the log', { logOutput: () => 'hidden' }, {}],
    ['pages by itself', { archivesOutput: false }, {}],
    ['has a log without a state', {}, { log: { ...createMemoryLog(), state: undefined } }],
  ])(
    'is the smaller limit where the tool %s, so that the run cuts no output',
    (_, options, run) => {
      for (const [maxBytes, limit] of [
        [400, 400],
        [9_000, 1_000],
      ] as const) {
        const { shown } = printer(options, {}, { maxInlineOutputBytes: maxBytes, ...run })
        const { value } = shown(lines)
        expect(Buffer.byteLength(value)).toBeLessThanOrEqual(limit)
        expect(value).toMatch(/^line 0\n[^]*are not shown here[^]*line 4999$/)
      }
    },
  )

  it('covers an output that the log failed to keep', async () => {
    const { state, ...log } = createMemoryLog()
    const set = (): never => {
      throw new Error('full')
    }
    const failing = { ...log, state: { ...state, set } }
    const run = { maxInlineOutputBytes: 400, log: failing, onLogError() {} }
    const { shown, tools } = printer({}, {}, run)
    const whole = await tools.print.execute({ text: lines, fails: false }, call)
    expect(whole).toBe(lines)
    expect(Buffer.byteLength(shown(whole).value)).toBeLessThanOrEqual(1_000)
  })

  it('covers errors of a tool that pages by itself', async () => {
    const { failure } = printer({ archivesOutput: false }, {}, { maxInlineOutputBytes: 400 })
    expect(Buffer.byteLength((await failure(lines)).message)).toBeLessThanOrEqual(400)
  })

  it.each([
    [{ maxBytes: 0 }],
    [{ maxLines: -1 }],
    [{ maxByte: 10 }],
    ['1000'],
    [{ maxBytes: Number.NaN }],
  ])('refuses %j when the tool is defined', (modelBudget) => {
    expect(() => printer({ modelBudget })).toThrow(/modelBudget must be/)
  })
})

describe('fitBudget', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'é', '😀', '\n', 'word '), maxLength: 400 })

  it('never exceeds its bytes, never shows a part twice, and cuts no character', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 120, max: 600 }), (whole, maxBytes) => {
        const { text: shown, shownBytes } = fitBudget(whole, { maxBytes }, () => '')
        expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(maxBytes)
        if (shownBytes === undefined) {
          expect(shown).toBe(whole)
          return
        }
        const [head = '', tail = ''] = shown.split(/\n?\[… .*? …\]\n/u)
        expect(shown.isWellFormed() && !shown.includes('\uFFFD')).toBe(true)
        expect(whole.startsWith(head) && whole.endsWith(tail)).toBe(true)
        expect(head.length + tail.length).toBeLessThan(whole.length)
      }),
    )
  })

  it('shows at most so many lines beside its note', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 30 }), (whole, maxLines) => {
        const { text: shown, shownBytes } = fitBudget(whole, { maxLines }, () => '')
        if (shownBytes === undefined) return
        const parts = shown.split(/\[… .*? …\]\n/u).join('')
        expect(parts.split('\n').length - (parts.endsWith('\n') ? 1 : 0)).toBeLessThanOrEqual(
          maxLines,
        )
      }),
    )
  })
})
