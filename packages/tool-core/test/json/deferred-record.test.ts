import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createToolRun, defineTool, type FinishPatch, type ToolCallRow } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { callOptions } from '../fixtures/charge-tool.ts'
import { logWith } from '../fixtures/log-with.ts'

const secret = 'hunter2'
const limit = 4000

function textTool(text: string, returnsWholeText: boolean) {
  return defineTool({
    name: 'text',
    schema: z.object({}),
    returnsWholeText,
    execute: () => text,
  })
}

async function recorded(
  text: string,
  returnsWholeText: boolean,
): Promise<Pick<ToolCallRow, 'outputJson' | 'outputExact'>> {
  const log = createMemoryLog()
  const run = createToolRun({ log, maxOutputBytes: limit, redact: { values: [secret] } })
  await run.tools({ text: textTool(text, returnsWholeText) }).text.execute({}, callOptions())
  const [row] = log.list({})
  const { outputJson = null, outputExact } = row ?? {}
  return { outputJson, ...(outputExact !== undefined && { outputExact }) }
}

describe('a text that becomes JSON when its row is read', () => {
  test('is recorded as any other, whole, cut or redacted', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.string({ unit: 'binary', minLength: 1 }), fc.constant(`"${secret}\n`)),
        fc.integer({ min: 1, max: 6000 }),
        async (unit, length) => {
          const text = unit.repeat(Math.ceil(length / unit.length))
          expect(await recorded(text, true)).toEqual(await recorded(text, false))
        },
      ),
      { numRuns: 60 },
    )
  })

  test('reads the same in every listing and in a copy of the log', async () => {
    const text = 'line "one"\n'.repeat(100)
    const log = createMemoryLog()
    const { text: tool } = createToolRun({ log }).tools({ text: textTool(text, true) })
    await tool.execute({}, callOptions())
    await tool.execute({}, callOptions())
    const outputs = [...log.list({}), ...log.list({}), ...log.snapshot()].map(
      ({ outputJson, outputExact }) => [outputJson, outputExact],
    )
    expect(outputs).toEqual(Array.from({ length: 6 }, () => [JSON.stringify(text), true]))
  })

  test('is whole for a log that copies what it is given', async () => {
    const text = 'x'.repeat(2000)
    let given: FinishPatch | undefined
    const log = logWith((memory) => ({
      finish: (token, patch) => {
        given = { ...patch }
        return memory.finish(token, given)
      },
    }))
    await createToolRun({ log })
      .tools({ text: textTool(text, true) })
      .text.execute({}, callOptions())
    expect(given).toMatchObject({ outputJson: JSON.stringify(text), outputExact: true })
    const [row] = await log.list({})
    expect(row?.outputJson).toBe(JSON.stringify(text))
  })

  test('is not put off past a call whose redaction sees values', async () => {
    const seen: unknown[] = []
    const text = 'x'.repeat(2000)
    const replace = (_path: string, value: unknown): unknown => (seen.push(value), value)
    const run = createToolRun({ log: createMemoryLog(), redact: { replace } })
    await run.tools({ text: textTool(text, true) }).text.execute({}, callOptions())
    expect(seen).toContain(text)
  })
})
