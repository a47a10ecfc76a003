import { createMemoryLog } from '@smithers/log-memory'
import { createSmithers, runWorkflow, Task } from '@smithers/workflow'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { circular, nothing, runThenMend, notes } from '../fixtures/run-then-mend.tsx'

const { Workflow } = notes

describe('runWorkflow', () => {
  test.each<[what: string, input: Record<string, unknown>, message: string]>([
    [
      'a function',
      { callback: nothing },
      'The input cannot be recorded: "callback" is a function.',
    ],
    ['a date', { when: { at: new Date(0) } }, '"when.at" is a Date.'],
    ['a cycle', circular(), '"self" contains itself.'],
    ['infinity', { limit: Number.POSITIVE_INFINITY }, '"limit" is Infinity.'],
    ['a hole', { list: [undefined] }, '"list.0" is undefined.'],
  ])(
    'names %s in the input and leaves a run that can be resumed',
    async (_what, input, message) => {
      const { error } = await runThenMend(() => null, input)
      expect(error).toMatchObject({
        code: 'INVALID_INPUT',
        message: expect.stringContaining(message),
        details: { runId: 'run-1' },
      })
    },
  )

  const typed = createSmithers({ input: z.object({ file: z.string() }) })
  const needsFile = typed.smithers((ctx) => (
    <Workflow name="typed">
      <Task id="read">{() => ctx.input.file}</Task>
    </Workflow>
  ))

  test.each([[{ file: 7 }], [{ fil: 'a.ts' }], [undefined]])(
    'begins no run with the input %j, so that a valid one can begin it',
    async (wrong) => {
      const log = createMemoryLog()
      const options = { runId: 'r', log }
      await expect(
        runWorkflow(needsFile, { ...options, ...(wrong && { input: wrong as never }) }),
      ).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        message: expect.stringContaining("The input does not match the workflow's schema: file:"),
      })
      expect(await log.runs.list({})).toEqual([])
      const { tasks } = await runWorkflow(needsFile, { ...options, input: { file: 'a.ts' } })
      expect(tasks).toMatchObject([{ output: 'a.ts' }])
    },
  )

  test('accepts only a valid input for a run whose input could not be recorded', async () => {
    const log = createMemoryLog()
    const options = { runId: 'r', log }
    const inputs = [{ file: 'a.ts', size: 1n }, { file: 7 }]
    for (const input of inputs) {
      const run = runWorkflow(needsFile, { ...options, input: input as never })
      await expect(run).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    }
    expect(await log.runs.list({})).toMatchObject([{ runId: 'r', inputJson: null }])
    await runWorkflow(needsFile, { ...options, input: { file: 'a.ts' } })
    expect(await log.runs.list({})).toMatchObject([{ status: 'finished' }])
  })

  test('reports a changed schema when the input of a run no longer matches', async () => {
    const log = createMemoryLog()
    const options = { runId: 'r', log }
    const other = createSmithers({ input: z.object({ name: z.string() }) })
    const needsName = other.smithers(() => (
      <Workflow name="other">
        <Task id="fail">
          {() => {
            throw new Error('not yet')
          }}
        </Task>
      </Workflow>
    ))
    const run = runWorkflow(needsName, { ...options, input: { name: 'x' } })
    await expect(run).rejects.toThrow('not yet')
    await expect(runWorkflow(needsFile, options)).rejects.toMatchObject({
      code: 'WORKFLOW_INVALID',
      message: expect.stringContaining("no longer matches the workflow's schema: file:"),
    })
  })
})
