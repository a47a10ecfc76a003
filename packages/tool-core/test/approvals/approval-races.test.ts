import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import {
  type ApprovalPatch,
  createToolRun,
  defineTool,
  pendingApprovals,
  resolveToolApproval,
  type ToolCallLog,
  type ToolCallQuery,
  type ToolCallRow,
} from '@smithers/tool-core'
import { currentOwnerId } from '@smithers/tool-core/log'
import { createMemoryLog, type MemoryLog } from '@smithers/tool-core/memory-log'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { call } from '../gates/call.ts'

const placed: unknown[] = []
const place = defineTool({
  name: 'place',
  schema: z.object({ sku: z.string() }),
  sideEffect: true,
  idempotent: false,
  acceptsContext: true,
  needsApproval: true,
  execute: (args) => placed.push(args),
})

/** An approved call of which another process has taken the approval, and nothing more so far. */
async function takenElsewhere(use: ApprovalPatch): Promise<{ log: MemoryLog; row: ToolCallRow }> {
  const log = createMemoryLog()
  await call(createToolRun({ runId: 'r', log }), place, { sku: 'a' }).catch(() => {})
  const [asked] = await pendingApprovals({ log })
  const id = asked?.id ?? ''
  await resolveToolApproval({ log, id, approved: true })
  const taken = { status: 'executed', usedBy: 'elsewhere', ...use } as const
  await log.approvals.update(id, { status: 'approved', usedBy: null }, taken)
  const [first] = log.snapshot()
  placed.length = 0
  return { log, row: { ...first!, callToken: 'elsewhere', seq: 99, leaseExpiresAtMs: null } }
}

/** A log in which something happens right after the call elsewhere was looked for and not found. */
function after(log: MemoryLog, happen: () => unknown): ToolCallLog {
  let happened = false
  return {
    ...log,
    async list(query: ToolCallQuery) {
      const rows = log.list(query)
      if (query.callToken === 'elsewhere' && !happened) {
        happened = true
        await happen()
      }
      return rows
    },
  }
}

describe('an approval that another process has taken', () => {
  it.runIf(process.platform === 'linux')(
    'serves no second call when that process starts its own and dies while it is looked for',
    async () => {
      const child = spawn('sleep', ['60'], { stdio: 'ignore' })
      const stat = readFileSync(`/proc/${child.pid}/stat`, 'latin1')
      const startTime = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
      const usedByOwner = `${currentOwnerId().split(':')[0]}:${child.pid}:${startTime}`
      const { log, row } = await takenElsewhere({ usedByOwner, usedAtMs: Date.now() })
      const racing = after(log, async () => {
        log.start({ ...row, ownerId: usedByOwner }, { durability: 'fsync', claim: null })
        child.kill('SIGKILL')
        await once(child, 'exit')
      })
      const run = createToolRun({ runId: 'r', attempt: 2, log: racing })
      await expect(call(run, place, { sku: 'a' })).rejects.toMatchObject({
        code: 'TOOL_APPROVAL_REQUIRED',
        message: expect.stringContaining('its outcome is unknown'),
      })
      expect(placed).toEqual([])
    },
  )

  it('serves no second call when that process, long silent, starts its own at this moment', async () => {
    const { log, row } = await takenElsewhere({ usedByOwner: 'elsewhere:1:1', usedAtMs: 1 })
    const racing = after(log, () => {
      log.start(
        { ...row, ownerId: 'elsewhere:1:1', leaseExpiresAtMs: Date.now() + 60_000 },
        { durability: 'fsync', claim: null },
      )
      setImmediate(() => {
        // Its own approval is there for it again.
        expect(log.approvals.list({})).toMatchObject([{ status: 'executed', usedBy: 'elsewhere' }])
        log.finish('elsewhere', {
          status: 'success',
          outputJson: '"placed elsewhere"',
          outputExact: true,
          errorJson: null,
          effect: 'applied',
          finishedAtMs: Date.now(),
        })
      })
    })
    const run = createToolRun({ runId: 'r', attempt: 2, log: racing })
    expect(await call(run, place, { sku: 'a' })).toBe('placed elsewhere')
    expect(placed).toEqual([])
  })
})
