import { linkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createTask } from '../fixtures/grep-task.ts'

describe.each(['none', 'auto'] as const)('grep with isolation %s', (isolation) => {
  const options = { isolation }

  test('cuts at a line when the limit is full, says so, and stays within the limit', async () => {
    const text = Array.from({ length: 5_000 }, (_, line) => `token number ${line}\n`).join('')
    const { search } = createTask({ 'big.txt': text }, { ...options, maxOutputBytes: 1_000 })
    const output = await search({ pattern: 'token' })
    expect(Buffer.byteLength(output)).toBeLessThanOrEqual(1_000)
    const shown = output.split('\n')
    const note = shown.pop()
    for (const [index, line] of shown.entries()) {
      expect(line).toBe(`big.txt:${index + 1}:token number ${index}`)
    }
    expect(note).toBe(
      `[… cut at 1000 bytes after ${shown.length} lines; more follow. Narrow the pattern, the path or the glob.]`,
    )
  })

  test('is stopped when the limit is full, not read to its end', async () => {
    // 48 GB of matches: a search that drained them would meet its time limit.
    const { search, root } = createTask(
      { big: 'token\n'.repeat(2_000_000) },
      { ...options, maxOutputBytes: 500, timeoutMs: 15_000 },
    )
    for (let copy = 0; copy < 2_000; copy += 1)
      linkSync(join(root, 'big'), join(root, `big-${copy}`))
    const output = await search({ pattern: 'token' })
    expect(output).toContain('cut at 500 bytes')
  })

  test('shows the beginning of a single line that is longer than the limit', async () => {
    const { search } = createTask(
      { 'min.js': `token ${'é'.repeat(100_000)}` },
      { ...options, maxOutputBytes: 300 },
    )
    const output = await search({ pattern: 'token' })
    expect(Buffer.byteLength(output)).toBeLessThanOrEqual(300)
    expect(output).toMatch(/^min\.js:1:token é+\n\[… cut at 300 bytes inside the first line;/)
  })
})
