import { codingTools, grep, type GrepInput } from '@smithers/builtin-tools'
import { describe, expect, test } from 'vitest'
import { createTask } from '../fixtures/grep-task.ts'
import { modelReads } from '../fixtures/model-reads.ts'

const contents = {
  '.gitignore': 'out/\n',
  'b.ts': 'x 1\ny\nx 2\n',
  'a.ts': 'x 3\n',
  'c/d.ts': 'y\nx 4\nx 5\nx 6\n',
  'out/e.ts': 'x\n',
}

describe.each(['none', 'auto'] as const)('grep with isolation %s', (isolation) => {
  test.each<[Omit<GrepInput, 'pattern'>, string]>([
    [{ mode: 'files' }, 'a.ts\nb.ts\nc/d.ts\n'],
    [{ mode: 'count' }, 'a.ts:1\nb.ts:2\nc/d.ts:3\n'],
    [{ mode: 'files', limit: 5 }, 'a.ts\nb.ts\nc/d.ts\n'],
    [
      { mode: 'files', limit: 2 },
      'a.ts\nb.ts\n[… stopped at the limit of 2 files; more follow. Narrow the search, or raise limit.]',
    ],
    [
      { limit: 2 },
      'a.ts:1:x 3\nb.ts:1:x 1\n[… stopped at the limit of 2 matching lines; more follow. Narrow the search, or raise limit.]',
    ],
    [
      { limit: 6 },
      'a.ts:1:x 3\nb.ts:1:x 1\nb.ts:3:x 2\nc/d.ts:2:x 4\nc/d.ts:3:x 5\nc/d.ts:4:x 6\n',
    ],
  ])('with %j returns %j', async (input, expected) => {
    const { search } = createTask(contents, { isolation }, codingTools.grep)
    expect(await search({ pattern: 'x', ...input })).toBe(expected)
  })

  test('lets a match span lines', async () => {
    const { search } = createTask(contents, { isolation })
    expect(await search({ pattern: 'x 1.*x 2', multiline: true })).toBe(
      'b.ts:1:x 1\nb.ts:2:y\nb.ts:3:x 2\n',
    )
    expect(await search({ pattern: 'x 1.*x 2' })).toBe('')
  })

  test('cuts long lines with paging, between characters', async () => {
    const { search } = createTask({ f: `x${'é'.repeat(3_000)}\n` }, { isolation }, codingTools.grep)
    const result = await search({ pattern: 'x' })
    expect(result).toMatch(/^f:1:xé+… \[\d+ more bytes\]\n$/u)
    expect(Buffer.byteLength(result)).toBeLessThan(2_100)
  })

  test('tells the model that nothing matched, and code an empty string', async () => {
    const input = { pattern: 'absent' }
    for (const [tool, note] of [
      [codingTools.grep, 'No matches (3 files searched; ignored files skipped).'],
      [grep, /^No matches \((?:3 files searched; )?ignored files skipped\)\.$/u],
    ] as const) {
      const { search } = createTask(contents, { isolation }, tool)
      const output = await search(input)
      expect(output).toBe('')
      expect(modelReads(tool, { toolCallId: 'call-1', input, output })).toEqual(
        typeof note === 'string' ? note : expect.stringMatching(note),
      )
    }
  })
})
