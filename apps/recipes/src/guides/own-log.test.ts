import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { logConformance } from '@smithers/log-conformance'
import { createMemoryLog } from '@smithers/log-memory'
import { createToolRun, defineTool, type ToolCallLog } from '@smithers/tool-core'
import { z } from 'zod'

/** A log in memory that also hands each row to an audit trail: once when the call starts, once when it has ended. */
export function createAuditedLog(audit: (line: string) => void): ToolCallLog {
  const memory = createMemoryLog()
  return {
    ...memory,
    name: 'audited',
    start(row, options) {
      const answer = memory.start(row, options)
      if (answer.ok) audit(`${row.toolName} ${row.inputJson} started`)
      return answer
    },
    finish(callToken, patch) {
      const answer = memory.finish(callToken, patch)
      const [row] = memory.list({ callToken })
      if (answer === 'ok') audit(`${row?.toolName} ${row?.status}, effect ${row?.effect}`)
      return answer
    },
  }
}

it('tells the audit trail before the effect, and after', async () => {
  const trail: string[] = []
  const pay = defineTool({
    name: 'pay',
    schema: z.object({ cents: z.int() }),
    sideEffect: true,
    execute: (_args, { idempotencyKey }) => trail.push(`paying, key ${idempotencyKey.length}`),
  })
  const run = createToolRun({ runId: 'r', log: createAuditedLog((line) => trail.push(line)) })
  await run.tools({ pay }).pay.execute({ cents: 5 }, { toolCallId: 'c', messages: [] })
  assert.deepEqual(trail, [
    'pay {"cents":5} started',
    'paying, key 36',
    'pay success, effect applied',
  ])
})

// The suite that our own adapters pass. What does not apply is skipped, with the reason in the test's name.
logConformance(
  { describe, it },
  {
    name: 'audited',
    capabilities: { durable: false, multiProcess: false, claims: true },
    createLog: () => createAuditedLog(() => {}),
    schema: { skip: 'rows in memory have no stored schema' },
    failures: { skip: 'memory has no disk that could be full' },
  },
)
