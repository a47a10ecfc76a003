import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { edit, replace, write } from '@smithers/builtin-tools'
import { createToolRun, isSmithersError } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

let rootDir: string

beforeEach(() => {
  rootDir = mkdtempSync(join(tmpdir(), 'smithers-contents-'))
  writeFileSync(join(rootDir, 'a.txt'), 'one\ntwo\n')
})

afterEach(() => rmSync(rootDir, { recursive: true }))

const tools = { write, edit, replace }

/** What the log has of one call: its arguments, and the code of its error. */
async function recorded(
  name: keyof typeof tools,
  args: object,
  recordContents = true,
): Promise<{ readonly input: Record<string, unknown>; readonly code: string | null }> {
  const log = createMemoryLog()
  const run = createToolRun({ runId: 'r', rootDir, log, recordContents })
  let code: string | null = null
  try {
    await run.tools(tools)[name].execute(args as never, { toolCallId: 'c', messages: [] })
  } catch (error) {
    code = isSmithersError(error) ? error.code : 'another'
  }
  const [row] = log.list({})
  return { input: JSON.parse(row?.inputJson ?? 'null') as Record<string, unknown>, code }
}

describe('recordContents with the file tools', () => {
  it('keeps what write changed of the file as it was', async () => {
    const { input } = await recorded('write', { path: 'a.txt', content: 'one\nthree\n' })
    expect(input['$patch']).toContain('\n one\n-two\n+three\n')
    expect(input['content']).toMatchObject({ sha256: expect.any(String) as string })
    expect(readFileSync(join(rootDir, 'a.txt'), 'utf8')).toBe('one\nthree\n')
  })

  it('keeps what replace changed of the file as it was', async () => {
    const { input } = await recorded('replace', { path: 'a.txt', oldText: 'two', newText: 'three' })
    expect(input['$patch']).toContain('\n one\n-two\n+three\n')
  })

  it('keeps the patch of edit as sent, with the reason, where it does not apply', async () => {
    const patch = '--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n one\n-zwei\n+three\n'
    const { input, code } = await recorded('edit', { path: 'a.txt', patch })
    expect(code).toBe('TOOL_PATCH_FAILED')
    expect(input['$patch']).toBe(patch)
    expect(readFileSync(join(rootDir, 'a.txt'), 'utf8')).toBe('one\ntwo\n')
  })

  it('keeps both texts of a replace that finds nothing', async () => {
    const { input, code } = await recorded('replace', {
      path: 'a.txt',
      oldText: 'zwei',
      newText: 'three',
    })
    expect(code).toBe('TOOL_REPLACE_FAILED')
    expect(input['$patch']).toContain('\n-zwei\n')
    expect(input['$patch']).toContain('\n+three\n')
  })

  it('keeps no content without the option', async () => {
    const { input } = await recorded('write', { path: 'a.txt', content: 'three' }, false)
    expect(JSON.stringify(input)).not.toContain('three')
    expect(input).not.toHaveProperty('$patch')
  })
})
