import { execFileSync } from 'node:child_process'
import { chmodSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createBuiltinTools, grep } from '@smithers/builtin-tools'
import {
  getDefinedToolMetadata,
  runWithToolContext,
  type ToolContextOptions,
} from '@smithers/tool-core'
import { describe, expect, test } from 'vitest'
import { createFileTask } from './fixtures/file-task.ts'

const call = { toolCallId: 'call-1', messages: [] }
type Input = Parameters<typeof grep.execute>[0]

function createTask(
  contents: Readonly<Record<string, string | Buffer>>,
  options: ToolContextOptions = {},
  tool = grep,
) {
  const { root, context } = createFileTask(contents, { isolation: 'none', ...options })
  return {
    root,
    run: <Value>(work: () => Value): Value => runWithToolContext(context, work),
    search: (input: Input) => runWithToolContext(context, () => tool.execute(input, call)),
  }
}

const lines = (text: string): string[] => text.split('\n').filter(Boolean).toSorted()
const code = (expected: string) => expect.objectContaining({ code: expected })

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

  test('skips files ignored by .gitignore, also outside a repository', async () => {
    const { search } = createTask(
      {
        '.gitignore': 'built/\n',
        'built/a': 'token\n',
        'sub/.gitignore': 'no\n',
        'sub/no': 'token\n',
        'sub/yes': 'token\n',
      },
      options,
    )
    expect(await search({ pattern: 'token' })).toBe('sub/yes:1:token\n')
    expect(await search({ pattern: 'token', path: 'sub' })).toBe('sub/yes:1:token\n')
  })

  test('does not apply ignore files above the root', async () => {
    const { root } = createTask({ '.gitignore': '*\n', 'inner/a': 'token\n' }, options)
    const { grep: inner } = createBuiltinTools({ isolation, rootDir: join(root, 'inner') })
    const { search } = createTask({}, options, inner)
    expect(await search({ pattern: 'token' })).toBe('a:1:token\n')
  })

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

  test('finds text in UTF-16, behind a byte order mark, in CRLF and in Latin-1', async () => {
    const { search } = createTask(
      {
        utf16: Buffer.from('\ufeffone\r\ntoken ä\r\n', 'utf16le'),
        mark: '\ufefftoken 1\nx\ntoken 2\n',
        crlf: 'a\r\ntoken\r\n',
        latin: Buffer.from('a\ntoken caf\xe9\nb', 'latin1'),
        end: 'a\nlast token',
        large: `${'filler of a line\n'.repeat(50_000)}token after ${'é'.repeat(70_000)}\ntoken\n`,
      },
      options,
    )
    const found = (await search({ pattern: 'token', context: 1 })).split('\n').filter(Boolean)
    expect(found.filter((line) => line.startsWith('utf16'))).toEqual([
      'utf16-1-one\r',
      'utf16:2:token ä\r',
    ])
    expect(found.filter((line) => line.startsWith('mark'))).toEqual([
      'mark:1:token 1',
      'mark-2-x',
      'mark:3:token 2',
    ])
    expect(found.filter((line) => line.startsWith('crlf'))).toEqual([
      'crlf-1-a\r',
      'crlf:2:token\r',
    ])
    expect(found.filter((line) => line.startsWith('latin'))).toEqual([
      'latin-1-a',
      'latin:2:token caf\ufffd',
      'latin-3-b',
    ])
    expect(found.filter((line) => line.startsWith('end'))).toEqual(['end-1-a', 'end:2:last token'])
    const large = found.filter((line) => line.startsWith('large'))
    expect(large.map((line) => line.slice(0, 22))).toEqual([
      'large-50000-filler of ',
      'large:50001:token afte',
      'large:50002:token',
    ])
  })

  test("shows ripgrep's message about an invalid pattern", async () => {
    const { search } = createTask({ a: 'x' }, options)
    const failure = search({ pattern: '(unclosed' })
    await expect(failure).rejects.toThrow(code('TOOL_GREP_FAILED'))
    await expect(failure).rejects.toThrow(/ripgrep failed: .*regex parse error[^]*unclosed group/)
  })

  test('returns the matches and a note when a part could not be searched', async ({ skip }) => {
    skip(process.geteuid?.() === 0 && isolation === 'none', 'root may read everything')
    const { search, root } = createTask({ a: 'token\n', 'closed/b': 'token\n' }, options)
    chmodSync(join(root, 'closed'), 0)
    try {
      const output = await search({ pattern: 'token' })
      skip(output.includes('closed/b'), 'this isolation leaves root its rights over files')
      expect(output).toMatch(
        /^a:1:token\n\[ripgrep could not search everything: .*closed.*ermission denied/,
      )
    } finally {
      chmodSync(join(root, 'closed'), 0o755)
    }
  })

  test('refuses paths that are missing, outside, or lead out through a link', async () => {
    const { search, root } = createTask({ a: 'x' }, options)
    symlinkSync('/etc', join(root, 'out'))
    await expect(search({ pattern: 'root', path: 'nowhere' })).rejects.toThrow(
      code('TOOL_FILE_NOT_FOUND'),
    )
    await expect(search({ pattern: 'root', path: '..' })).rejects.toThrow(code('TOOL_PATH_ESCAPE'))
    await expect(search({ pattern: 'root', path: 'out' })).rejects.toThrow(code('TOOL_PATH_ESCAPE'))
    await expect(search({ pattern: 'root', path: 'out/passwd' })).rejects.toThrow(
      code('TOOL_PATH_ESCAPE'),
    )
    // A link inside is not followed either.
    expect(await search({ pattern: 'root:' })).toBe('')
  })

  test('finds nothing in what the policy denies', async () => {
    const { grep: guarded } = createBuiltinTools({
      isolation,
      files: { deny: ['**/.env', 'secrets'] },
    })
    const { search, root } = createTask(
      { a: 'token\n', '.env': 'token\n', 'x/.env': 'token\n' },
      options,
      guarded,
    )
    mkdirSync(join(root, 'secrets'))
    writeFileSync(join(root, 'secrets/key'), 'token\n')
    expect(await search({ pattern: 'token', hidden: true })).toBe('a:1:token\n')
    expect(await search({ pattern: 'token', hidden: true, glob: '**' })).toBe('a:1:token\n')
    await expect(search({ pattern: 'token', path: '.env' })).rejects.toThrow(
      code('TOOL_PATH_DENIED'),
    )
    await expect(search({ pattern: 'token', path: 'secrets/key' })).rejects.toThrow(
      code('TOOL_PATH_DENIED'),
    )
  })

  test.each([
    ['**/@(a|b).key', ['a.key', 'x/b.key']],
    ['**/+(a|b).key', ['a.key', 'x/b.key']],
    ['(s|t)/**', ['s/deep/f', 't/f']],
    ['./a.key', ['a.key']],
    ['**/*.(key|pem)', ['a.key', 'x/b.pem']],
    ['!(*.txt)', ['a.key']],
    ['{a,b}.key', ['a.key', 'b.key']],
    ['[ab].key', ['a.key', 'b.key']],
  ])('prints no line of what the deny glob %s covers', async (glob, denied) => {
    const { grep: guarded, read } = createBuiltinTools({ isolation, files: { deny: [glob] } })
    const hidden = Object.fromEntries(denied.map((path) => [path, 'before\ntoken secret\n']))
    const task = createTask({ ...hidden, 'open.txt': 'token\n' }, options, guarded)
    await expect(task.run(() => read.execute({ path: denied[0]! }, call))).rejects.toThrow(
      code('TOOL_PATH_DENIED'),
    )
    expect(await task.search({ pattern: 'token' })).toBe('open.txt:1:token\n')
    expect(await task.search({ pattern: 'token', context: 1 })).toBe('open.txt:1:token\n')
  })

  test('searches permitted files, whatever their names and lines look like', async () => {
    const { grep: guarded } = createBuiltinTools({
      isolation,
      files: { deny: ['key', '*.@(pem)', 'a[b'] },
    })
    const { search } = createTask(
      {
        key: 'token\n',
        'x/key': 'token\n',
        'two\nlines': '12-token:\n',
        'x.bin': 'token\0\n',
        'f-1-g': 'one\ntwo\ntoken\nfour\nfive\n',
      },
      options,
      guarded,
    )
    expect(lines(await search({ pattern: 'token' }))).toEqual([
      'f-1-g:3:token',
      'lines:1:12-token:',
      'two',
      'x/key:1:token',
    ])
    expect(await search({ pattern: 'token', path: 'x.bin' })).toBe(
      'x.bin: binary file matches (found "\\0" byte around offset 5)\n',
    )
    expect(await search({ pattern: 'token', path: 'f-1-g', context: 1 })).toBe(
      'f-1-g-2-two\nf-1-g:3:token\nf-1-g-4-four\n',
    )
  })

  test('refuses a pipe, on which ripgrep would wait for ever', async () => {
    const { search, root } = createTask({}, options)
    execFileSync('mkfifo', [join(root, 'pipe')])
    await expect(search({ pattern: 'x', path: 'pipe' })).rejects.toThrow(code('TOOL_NOT_A_FILE'))
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
