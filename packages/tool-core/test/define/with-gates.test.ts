import { createToolRun, defineTool, getDefinedToolMetadata, withGates } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { call, outcomes } from '../gates/call.ts'

describe('withGates', () => {
  it('gates a copy of a tool, and leaves the tool as it was', async () => {
    let runs = 0
    const plain = defineTool({
      name: 'plain',
      description: 'Plain',
      schema: z.object({ n: z.number() }),
      execute: () => (runs += 1),
    })
    const gated = withGates({ ...plain }, { needsApproval: ({ n }: { n: number }) => n > 1 })
    expect(gated.description).toBe('Plain')
    expect(getDefinedToolMetadata(gated)).toEqual(getDefinedToolMetadata(plain))
    const run = createToolRun({ runId: 'r', log: createMemoryLog() })
    expect(
      await outcomes([
        call(run, plain, { n: 2 }),
        call(run, gated, { n: 1 }),
        call(run, gated, { n: 2 }),
      ]),
    ).toEqual(['TOOL_APPROVAL_REQUIRED', 'ok', 'ok'])
    expect(runs).toBe(2)
  })

  it('refuses what is no defined tool, and gates that do not fit it', () => {
    expect(() => withGates({ execute: () => 1 }, {})).toThrow(
      expect.objectContaining({ code: 'INVALID_TOOL' }),
    )
    const write = defineTool({
      name: 'w',
      schema: z.object({}),
      sideEffect: true,
      execute: (_args, _ctx) => 1,
    })
    expect(() => withGates(write, { cache: true })).toThrow(
      expect.objectContaining({ code: 'INVALID_TOOL' }),
    )
  })
})
