import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import {
  createToolRun,
  defineTool,
  pendingApprovals,
  resolveToolApproval,
  type StartOptions,
  type StartRow,
  type ToolCallLog,
  type ToolCallQuery,
} from '@smithers/tool-core'
import { currentOwnerId } from '@smithers/tool-core/log'
import { createMemoryLog, type MemoryLog } from '@smithers/tool-core/memory-log'
import { beforeEach, describe, expect, it } from 'vitest'
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

beforeEach(() => {
  placed.length = 0
})

interface ApprovedElsewhere {
  readonly log: MemoryLog
  /** Stores the start row with which another process uses the approval. */
  readonly startElsewhere: (ownerId?: string) => void
}

/** A call that is approved, and that another process is about to run. */
async function approvedElsewhere(): Promise<ApprovedElsewhere> {
  const log = createMemoryLog()
  await call(createToolRun({ runId: 'r', log }), place, { sku: 'a' }).catch(() => {})
  const [requested] = await pendingApprovals({ log })
  const id = requested?.id ?? ''
  await resolveToolApproval({ log, id, approved: true })
  const { status, finishedAtMs, outputJson, errorJson, effect, claim, ...first } =
    log.snapshot()[0]!
  void [status, finishedAtMs, outputJson, errorJson, effect, claim]
  return {
    log,
    startElsewhere(ownerId = 'elsewhere:1:1') {
      const row: StartRow = {
        ...first,
        // Of the attempt that looks for the approval: an earlier one would be refused for that alone.
        attempt: 2,
        callToken: 'elsewhere',
        seq: 99,
        ownerId,
        leaseExpiresAtMs: Date.now() + 60_000,
      }
      expect(log.start(row, { durability: 'fsync', claim: null, approvalId: id })).toEqual({
        ok: true,
      })
    },
  }
}

function finishElsewhere(log: MemoryLog): void {
  log.finish('elsewhere', {
    status: 'success',
    outputJson: '"placed elsewhere"',
    outputExact: true,
    errorJson: null,
    effect: 'applied',
    finishedAtMs: Date.now(),
  })
}

/** A log in which something happens right after the use of the approval was looked for and not found. */
function afterLook(log: MemoryLog, happen: () => unknown): ToolCallLog {
  let looks = 0
  return {
    ...log,
    async list(query: ToolCallQuery) {
      const rows = log.list(query)
      // The first look closes what earlier processes left behind, the second is that of the call.
      if (query.approvalId !== undefined && (looks += 1) === 2) await happen()
      return rows
    },
  }
}

describe('an approval that another process uses', () => {
  it.runIf(process.platform === 'linux')(
    'serves no second call when that process starts its own and dies',
    async () => {
      const child = spawn('sleep', ['60'], { stdio: 'ignore' })
      const stat = readFileSync(`/proc/${child.pid}/stat`, 'latin1')
      const startTime = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
      const owner = `${currentOwnerId().split(':')[0]}:${child.pid}:${startTime}`
      const { log, startElsewhere } = await approvedElsewhere()
      const racing = afterLook(log, async () => {
        startElsewhere(owner)
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

  it('serves no second call when that process starts its own at this moment', async () => {
    const { log, startElsewhere } = await approvedElsewhere()
    const racing = afterLook(log, () => {
      startElsewhere()
      setImmediate(() => finishElsewhere(log))
    })
    const run = createToolRun({ runId: 'r', attempt: 2, log: racing })
    expect(await call(run, place, { sku: 'a' })).toBe('placed elsewhere')
    expect(placed).toEqual([])
  })

  it('serves a second call with a log that ignores it, as a control', async () => {
    const { log, startElsewhere } = await approvedElsewhere()
    const careless: ToolCallLog = {
      ...afterLook(log, startElsewhere),
      start: (row: StartRow, { approvalId: _ignored, ...options }: StartOptions) =>
        log.start(row, options),
    }
    const run = createToolRun({ runId: 'r', attempt: 2, log: careless })
    await call(run, place, { sku: 'a' })
    expect(placed).toHaveLength(1)
  })
})
