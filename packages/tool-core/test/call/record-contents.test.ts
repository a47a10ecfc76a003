import {
  createToolRun,
  defineTool,
  type ToolCallLog,
  type ToolRunOptions,
} from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { call } from '../gates/call.ts'

const patch = '--- a\n+++ a\n@@ -1 +1 @@\n-one\n+two s3cret\n'

function editor(preview: () => unknown = () => ({ patch }), execute = (): string => 'edited') {
  return defineTool({
    name: 'edit',
    schema: z.object({ path: z.string(), content: z.string() }),
    sideEffect: true,
    acceptsContext: true,
    approvalPreview: preview as () => string,
    logInput: ({ path }) => ({ path }),
    execute,
  })
}

async function loggedInput(
  options: ToolRunOptions = {},
  tool = editor(),
): Promise<Record<string, unknown>> {
  const log: ToolCallLog = createMemoryLog()
  await call(createToolRun({ runId: 'r', log, ...options }), tool, {
    path: 'a',
    content: 'two s3cret',
  }).catch(() => {})
  const [row] = await log.list({})
  return JSON.parse(row?.inputJson ?? 'null') as Record<string, unknown>
}

describe('recordContents', () => {
  it('keeps no contents unless it is asked to', async () => {
    expect(await loggedInput()).toEqual({ path: 'a' })
    expect(await loggedInput({ recordContents: false })).toEqual({ path: 'a' })
  })

  it('keeps the patch of a call beside its logged arguments, without the secrets of the run', async () => {
    const redact = { values: ['s3cret'] }
    expect(await loggedInput({ recordContents: true, redact })).toEqual({
      path: 'a',
      $patch: patch.replace('s3cret', '[redacted]'),
    })
  })

  it('keeps the patch of a call that fails', async () => {
    const failing = editor(undefined, () => {
      throw new Error('It does not apply.')
    })
    expect(await loggedInput({ recordContents: true }, failing)).toEqual({
      path: 'a',
      $patch: patch,
    })
  })

  it('cuts a long patch to 64 KiB, and to the limit of recorded arguments', async () => {
    const long = editor(() => ({ patch: `+${'é\n'.repeat(100_000)}` }))
    for (const [maxInputBytes, most] of [
      [undefined, 64 * 1024],
      [2000, 2000],
    ] as const) {
      const input = await loggedInput({ recordContents: true, maxInputBytes }, long)
      expect(input).toMatchObject({ path: 'a', $patch: { $truncated: true, bytes: 400_003 } })
      const { length } = Buffer.from(JSON.stringify(input))
      expect(length).toBeLessThanOrEqual(most + 30)
      expect(length).toBeGreaterThan(most * 0.8)
    }
  })

  it('leaves the arguments alone where nothing of a patch would fit', async () => {
    expect(await loggedInput({ recordContents: true, maxInputBytes: 100 })).toEqual({ path: 'a' })
  })

  it('records that a preview failed, and the call runs', async () => {
    let ran = false
    const blind = editor(
      () => {
        throw new TypeError('s3cret')
      },
      () => {
        ran = true
        return 'edited'
      },
    )
    expect(await loggedInput({ recordContents: true }, blind)).toEqual({
      path: 'a',
      $patch: { $described: 'not recorded: the preview failed with TypeError' },
    })
    expect(ran).toBe(true)
  })

  it('records nothing for a preview that is a text', async () => {
    const speaking = editor(() => 'It would change a.')
    expect(await loggedInput({ recordContents: true }, speaking)).toEqual({ path: 'a' })
  })

  it('keeps the patch of the arguments that an approver gave', async () => {
    const log = createMemoryLog()
    const tool = defineTool({
      name: 'edit',
      schema: z.object({ text: z.string() }),
      sideEffect: true,
      acceptsContext: true,
      needsApproval: true,
      approvalPreview: ({ text }) => ({ patch: `+${text}` }),
      logInput: () => ({}),
      execute: () => 'edited',
    })
    const run = createToolRun({
      runId: 'r',
      log,
      recordContents: true,
      onApproval: () => ({ approved: true, approvedArgs: { text: 'theirs' } }),
    })
    await call(run, tool, { text: 'mine' })
    expect(JSON.parse(log.list({})[0]?.inputJson ?? '')).toEqual({ $patch: '+theirs' })
  })
})
