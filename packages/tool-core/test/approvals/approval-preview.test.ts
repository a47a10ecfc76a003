import {
  type ApprovalRow,
  createToolRun,
  defineTool,
  pendingApprovals,
  resolveToolApproval,
  SmithersError,
  type ToolCallLog,
  type ToolRunOptions,
} from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { call } from '../gates/call.ts'

const patch = '--- a\n+++ a\n@@ -1 +1 @@\n-one\n+two s3cret\n'

function editor(preview: () => unknown = () => ({ patch })) {
  return defineTool({
    name: 'edit',
    schema: z.object({ path: z.string() }),
    sideEffect: true,
    acceptsContext: true,
    needsApproval: true,
    approvalPreview: preview as () => string,
    execute: () => 'edited',
  })
}

async function requested(
  log: ToolCallLog,
  tool = editor(),
  options: ToolRunOptions = {},
): Promise<ApprovalRow> {
  await call(createToolRun({ runId: 'r', log, ...options }), tool, { path: 'a' }).catch(() => {})
  const [row] = await pendingApprovals({ log })
  return row!
}

async function stored(log: ToolCallLog): Promise<(string | null)[]> {
  const rows = (await log.approvals?.list({})) ?? []
  return rows.map(({ previewJson }) => previewJson)
}

describe('approvalPreview', () => {
  it('shows the approver what the call would do, without the secrets of the run', async () => {
    const { previewJson } = await requested(createMemoryLog(), editor(), {
      redact: { values: ['s3cret'] },
    })
    expect(JSON.parse(previewJson ?? '')).toEqual({ patch: patch.replace('s3cret', '[redacted]') })
  })

  it('is erased once the call has run, and not before', async () => {
    const log = createMemoryLog()
    const { id } = await requested(log)
    await resolveToolApproval({ log, id, approved: true })
    expect(await stored(log)).toEqual([JSON.stringify({ patch })])
    await call(createToolRun({ runId: 'r', attempt: 2, log }), editor(), { path: 'a' })
    expect(await stored(log)).toEqual([null])
  })

  it('is erased once the call has failed without an effect, while the approval holds', async () => {
    const log = createMemoryLog()
    const failing = defineTool({
      name: 'edit',
      schema: z.object({ path: z.string() }),
      sideEffect: true,
      needsApproval: true,
      approvalPreview: () => ({ patch }),
      execute: () => {
        throw new SmithersError('TOOL_PATCH_FAILED', 'Nothing was changed.', { effect: 'none' })
      },
    })
    const { id } = await requested(log, failing)
    await resolveToolApproval({ log, id, approved: true })
    const again = createToolRun({ runId: 'r', attempt: 2, log })
    await expect(call(again, failing, { path: 'a' })).rejects.toThrow('Nothing was changed.')
    expect(await log.approvals?.list({})).toMatchObject([{ status: 'approved', previewJson: null }])
  })

  it('is erased once the request is rejected, expired or superseded', async () => {
    const rejected = createMemoryLog()
    const { id } = await requested(rejected)
    await resolveToolApproval({ log: rejected, id, approved: false })
    expect(await stored(rejected)).toEqual([null])

    const superseded = createMemoryLog()
    const first = await requested(superseded)
    await superseded.approvals.request({ ...first, id: 'other', inputHash: 'other' })
    expect(await stored(superseded)).toEqual([JSON.stringify({ patch }), null])
  })

  it('is cut to 64 KiB', async () => {
    const { previewJson } = await requested(
      createMemoryLog(),
      editor(() => 'x'.repeat(100_000)),
    )
    expect(Buffer.byteLength(previewJson ?? '')).toBeLessThanOrEqual(64 * 1024)
    expect(previewJson).toContain('xxx')
  })

  it('is not kept in a run with previews: false', async () => {
    const { previewJson } = await requested(createMemoryLog(), editor(), { previews: false })
    expect(previewJson).toBeNull()
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('no such file')
      },
      'The preview failed: no such file',
    ],
    [
      'returns something else',
      () => 7,
      'The preview failed: approvalPreview must return a text or { patch }',
    ],
  ])('says so when it %s, and the request is made', async (_how, preview, text) => {
    const { previewJson } = await requested(createMemoryLog(), editor(preview))
    expect(JSON.parse(previewJson ?? '')).toBe(text)
  })
})
