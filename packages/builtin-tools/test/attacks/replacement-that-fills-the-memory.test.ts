import { replace } from '@smithers/builtin-tools'
import { runWithToolContext } from '@smithers/tool-core'
import { describe, expect, it } from 'vitest'
import { createFileTask } from '../fixtures/file-task.ts'

const call = { toolCallId: 'call-1', messages: [] }

describe('a replacement of a character that occurs often by a long text', () => {
  it('is refused before the result is built', async () => {
    const task = createFileTask({ f: 'a'.repeat(190_000) })
    const replaced = (newText: string) => {
      const input = { path: 'f', oldText: 'a', newText, replaceAll: true }
      return runWithToolContext(task.context, () => replace.execute(input, call))
    }
    const before = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed
    // 19 GB, which no string can have.
    await expect(replaced('b'.repeat(100_000))).rejects.toMatchObject({
      code: 'TOOL_CONTENT_TOO_LARGE',
      details: { bytes: 19_000_000_000 },
    })
    const after = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed
    expect(after - before).toBeLessThan(200_000_000)
    expect(task.text('f')).toBe('a'.repeat(190_000))
    expect(await replaced('c')).toContain('ok')
    expect(task.text('f')).toBe('c'.repeat(190_000))
  })
})
