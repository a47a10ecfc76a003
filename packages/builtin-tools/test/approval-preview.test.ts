import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { edit, write } from '@smithers/builtin-tools'
import { createToolRun, pendingApprovals, withGates } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

let rootDir: string

beforeEach(() => {
  rootDir = mkdtempSync(join(tmpdir(), 'smithers-preview-'))
  writeFileSync(join(rootDir, 'a.txt'), 'one\ntwo\n')
})

afterEach(() => rmSync(rootDir, { recursive: true }))

const gates = { needsApproval: true } as const
const tools = { write: withGates(write, gates), edit: withGates(edit, gates) }
const options = { toolCallId: 'c', messages: [] }

async function previewOf(name: 'write' | 'edit', args: object): Promise<string> {
  const log = createMemoryLog()
  const bound = createToolRun({ runId: 'r', rootDir, log }).tools(tools)
  await expect(bound[name].execute(args as never, options)).rejects.toMatchObject({
    code: 'TOOL_APPROVAL_REQUIRED',
  })
  const [approval] = await pendingApprovals({ log })
  // The log itself never holds the content.
  expect(approval?.inputJson).toContain('sha256')
  return (JSON.parse(approval?.previewJson ?? 'null') as { patch: string }).patch
}

describe('approvalPreview of the file tools', () => {
  it('shows what write would change of an existing file', async () => {
    const patch = await previewOf('write', { path: 'a.txt', content: 'one\nthree\n' })
    expect(patch).toContain('\n one\n-two\n+three\n')
  })

  it('shows the content that write would put into a new file', async () => {
    expect(await previewOf('write', { path: 'b.txt', content: 'new\n' })).toContain('\n+new\n')
  })

  it('shows the patch of edit', async () => {
    const patch = '--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n'
    expect(await previewOf('edit', { path: 'a.txt', patch })).toBe(patch)
  })
})
