import { join } from 'node:path'
import { createBuiltinTools, grep } from '@smithers/builtin-tools'
import { getDefinedToolMetadata } from '@smithers/tool-core'
import { describe, expect, test } from 'vitest'
import { code } from '../fixtures/error-code.ts'
import { createTask, lines } from '../fixtures/grep-task.ts'

describe.each(['none', 'auto'] as const)('grep with isolation %s', (isolation) => {
  const options = { isolation }

  test('refuses a NUL by the name of the parameter', async () => {
    const { search } = createTask({ a: 'x\n' }, options)
    for (const input of [{ pattern: 'a\0b' }, { pattern: 'a', glob: '*\0' }]) {
      const name = 'glob' in input ? 'glob' : 'pattern'
      await expect(search(input)).rejects.toThrow(
        expect.objectContaining({
          code: 'INVALID_INPUT',
          message: expect.stringMatching(
            new RegExp(`${name}.*must not contain a NUL character`, 's'),
          ),
        }),
      )
    }
  })

  test('returns path:line:text with paths from the root, whatever is searched', async () => {
    const { search, root } = createTask(
      { 'src/a.ts': 'one\ntoken here\n', 'src/deep/b.ts': 'token\n', 'c.md': 'token\n' },
      options,
    )
    expect(lines(await search({ pattern: 'token' }))).toEqual([
      'c.md:1:token',
      'src/a.ts:2:token here',
      'src/deep/b.ts:1:token',
    ])
    expect(await search({ pattern: 'token', path: 'src/a.ts' })).toBe('src/a.ts:2:token here\n')
    expect(await search({ pattern: 'token', path: join(root, 'src/deep') })).toBe(
      'src/deep/b.ts:1:token\n',
    )
    expect(await search({ pattern: 'token', path: './src/../c.md' })).toBe('c.md:1:token\n')
  })

  test('returns the files in the order of their paths', async () => {
    const names = Array.from({ length: 300 }, (_, index) => `${index % 7}/${index % 11}/${index}`)
    const { search } = createTask(
      Object.fromEntries(names.map((name) => [name, 'token\n'])),
      options,
    )
    const found = (await search({ pattern: 'token' })).trimEnd().split('\n')
    const inOrder = names.map((name) => name.split('/')).toSorted(byParts)
    expect(found).toEqual(inOrder.map((parts) => `${parts.join('/')}:1:token`))
  })

  test('returns an empty string when nothing matches', async () => {
    const { search } = createTask({ a: 'x' }, options)
    expect(await search({ pattern: 'absent' })).toBe('')
  })

  test('treats a pattern that looks like an option or a URL as a pattern', async () => {
    const { search } = createTask({ a: '--files\n-e\nsee https://example.com/x\n' }, options)
    expect(await search({ pattern: '--files' })).toBe('a:1:--files\n')
    expect(await search({ pattern: '-e' })).toBe('a:2:-e\n')
    expect(await search({ pattern: 'https://example' })).toBe('a:3:see https://example.com/x\n')
    expect(await search({ pattern: '--pre=touch ran' })).toBe('')
  })

  test('reads no configuration file', async () => {
    const { search, root } = createTask(
      { a: 'token\n', 'config/rc': '--files-without-match\n' },
      options,
    )
    process.env['RIPGREP_CONFIG_PATH'] = join(root, 'config/rc')
    try {
      const { grep: passing } = createBuiltinTools({ isolation, env: { pass: ['RIPGREP_*'] } })
      const { search: searchPassing } = createTask({ a: 'token\n' }, options, passing)
      expect(await search({ pattern: 'token', path: 'a' })).toBe('a:1:token\n')
      expect(await searchPassing({ pattern: 'token' })).toBe('a:1:token\n')
    } finally {
      delete process.env['RIPGREP_CONFIG_PATH']
    }
  })

  test('maps its options to those of ripgrep', async () => {
    const { search } = createTask(
      { 'a.ts': 'one\nTwo.\nthree\n', 'b.md': 'two!\n', '.hidden': 'two\n', 'x/a.b': 'a.c\nabc\n' },
      options,
    )
    expect(lines(await search({ pattern: 'two', ignoreCase: true }))).toEqual([
      'a.ts:2:Two.',
      'b.md:1:two!',
    ])
    expect(await search({ pattern: 'two', ignoreCase: true, glob: '*.ts' })).toBe('a.ts:2:Two.\n')
    expect(await search({ pattern: 'two', ignoreCase: true, glob: '!*.ts' })).toBe('b.md:1:two!\n')
    expect(await search({ pattern: 'a.c', literal: true })).toBe('x/a.b:1:a.c\n')
    expect(lines(await search({ pattern: 'a.c' }))).toEqual(['x/a.b:1:a.c', 'x/a.b:2:abc'])
    expect(await search({ pattern: 'Two', context: 1 })).toBe(
      'a.ts-1-one\na.ts:2:Two.\na.ts-3-three\n',
    )
    expect(lines(await search({ pattern: 'two', hidden: true }))).toEqual([
      '.hidden:1:two',
      'b.md:1:two!',
    ])
  })

  test("shows ripgrep's message about an invalid pattern", async () => {
    const { search } = createTask({ a: 'x' }, options)
    const failure = search({ pattern: '(unclosed' })
    await expect(failure).rejects.toThrow(code('TOOL_GREP_FAILED'))
    await expect(failure).rejects.toThrow(/ripgrep failed: .*regex parse error[^]*unclosed group/)
  })
})

describe('grep', () => {
  test('is a pure read', () => {
    expect(getDefinedToolMetadata(grep)).toEqual({
      name: 'grep',
      sideEffect: false,
      idempotent: true,
    })
  })

  test.each([
    { pattern: '' },
    { pattern: 'x', context: -1 },
    { pattern: 'x', context: 101 },
    { pattern: 'x', path: '' },
  ])('refuses %o', async (input) => {
    const { search } = createTask({})
    await expect(search(input)).rejects.toThrow(code('INVALID_INPUT'))
  })
})

/** Directory by directory. */
function byParts(one: readonly string[], other: readonly string[]): number {
  const at = one.findIndex((part, index) => part !== other[index])
  return at === -1 ? 0 : one[at]! < (other[at] ?? '') ? -1 : 1
}
