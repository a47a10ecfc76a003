import { createToolRun, defineTool } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { journalOf } from '../../src/journal/attempt-journal.ts'

const big = 100_000

/** One attempt whose tool is called once with a large input and fails with a large error. */
async function callWithMuchData(
  log = createMemoryLog(),
  attempt = 1,
  onVerify?: (json: string | null) => void,
) {
  const run = createToolRun({ runId: 'r', attempt, log })
  const send = defineTool({
    name: 'send',
    schema: z.object({ text: z.string() }),
    sideEffect: true,
    idempotent: false,
    verify: (_args, prior) => {
      onVerify?.(prior.inputJson)
      return { happened: 'unknown' }
    },
    execute: (_args, _ctx) => {
      throw Object.assign(new Error('e'.repeat(big)), { code: 'E_SEND' })
    },
  })
  const text = 'x'.repeat(big)
  await run
    .tools({ send })
    .send.execute({ text }, { toolCallId: `c${attempt}`, messages: [] })
    .catch(() => {})
  return { log, run }
}

describe('what a run remembers of its calls', () => {
  it('is their beginnings, however large their arguments and errors were', async () => {
    const { log } = await callWithMuchData()
    const { run } = await callWithMuchData(log, 2)
    const [earlier] = journalOf(run.context).history.earlier
    expect(log.list({})[0]?.inputJson).toHaveLength(big + 11)
    expect(JSON.stringify(earlier).length).toBeLessThan(2000)
    expect(earlier).toMatchObject({ errorCode: 'E_SEND' })
    expect(earlier?.inputHead).toMatch(/^\{"text":"x{491}…$/)
  })

  it('is enough for verify, which reads the arguments from the log', async () => {
    const { log } = await callWithMuchData()
    const seen: (string | null)[] = []
    await callWithMuchData(log, 2, (json) => seen.push(json))
    expect(seen).toEqual([log.list({})[0]?.inputJson])
  })
})
