import { createToolRun, defineTool } from '@smithers/tool-core'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { callOptions, createChargeTool } from '../fixtures/charge-tool.ts'
import { logWith } from '../fixtures/log-with.ts'
import { StripeLikeProvider } from '../fixtures/provider.ts'

const empty = z.object({})

describe('a log that fails at the start', () => {
  const failing = logWith(() => ({
    start: () => {
      throw new Error('disk full')
    },
  }))

  test('keeps a call that must not run twice from running, and stops the run', async () => {
    const provider = new StripeLikeProvider()
    const run = createToolRun({ log: failing })
    const { charge } = run.tools({ charge: createChargeTool(provider) })
    await expect(charge.execute({ customer: 'a', amount: 1 }, callOptions())).rejects.toMatchObject(
      {
        code: 'TOOL_LOG_UNAVAILABLE',
        effect: 'none',
      },
    )
    expect(provider.charges).toEqual([])
    expect(run.abortSignal.aborted).toBe(true)
    await expect(run.settle('done')).rejects.toMatchObject({ code: 'TOOL_LOG_UNAVAILABLE' })
  })

  test('lets a read run, and reports the failure', async () => {
    const onLogError = vi.fn<(error: unknown) => void>()
    const run = createToolRun({ log: failing, onLogError })
    const read = defineTool({ name: 'read', schema: empty, execute: () => 'text' })
    expect(await run.tools({ read }).read.execute({}, callOptions())).toBe('text')
    expect(onLogError).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ message: 'disk full' }),
    )
    expect(await run.settle('done')).toBe('done')
  })

  test('keeps such a call from running when the earlier calls cannot be read', async () => {
    const provider = new StripeLikeProvider()
    const log = logWith(() => ({ list: () => Promise.reject(new Error('no connection')) }))
    const run = createToolRun({ runId: 'r', log })
    const { charge } = run.tools({ charge: createChargeTool(provider) })
    await expect(charge.execute({ customer: 'a', amount: 1 }, callOptions())).rejects.toMatchObject(
      {
        code: 'TOOL_LOG_UNAVAILABLE',
      },
    )
    expect(provider.charges).toEqual([])
  })
})

describe('a log that fails at the end', () => {
  test('is tried again, and the call succeeds', async () => {
    let failures = 2
    const rows: string[] = []
    const log = logWith((memory) => ({
      finish: (token, patch) => {
        failures -= 1
        if (failures >= 0) throw new Error('busy')
        rows.push(patch.status)
        return memory.finish(token, patch)
      },
    }))
    const run = createToolRun({ log })
    const { charge } = run.tools({ charge: createChargeTool(new StripeLikeProvider()) })
    expect(await charge.execute({ customer: 'a', amount: 1 }, callOptions())).toBe('ch_1')
    expect(rows).toEqual(['success'])
    expect(run.fatal).toBeUndefined()
  })

  test('never tells the model that the call failed, but stops the run', async () => {
    const log = logWith(() => ({
      finish: () => {
        throw new Error('disk full')
      },
    }))
    const run = createToolRun({ log })
    const { charge } = run.tools({ charge: createChargeTool(new StripeLikeProvider()) })
    expect(await charge.execute({ customer: 'a', amount: 1 }, callOptions())).toBe('ch_1')
    await expect(run.settle()).rejects.toMatchObject({
      code: 'TOOL_LOG_UNAVAILABLE',
      effect: 'applied',
    })
    await expect(charge.execute({ customer: 'b', amount: 1 }, callOptions())).rejects.toMatchObject(
      {
        code: 'TOOL_ABORTED',
      },
    )
  })
})
