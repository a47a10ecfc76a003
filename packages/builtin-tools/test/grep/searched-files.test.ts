import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createBuiltinTools } from '@smithers/builtin-tools'
import { describe, expect, test } from 'vitest'
import { code } from '../fixtures/error-code.ts'
import { call, createTask, lines } from '../fixtures/grep-task.ts'

describe.each(['none', 'auto'] as const)('grep with isolation %s', (isolation) => {
  const options = { isolation }

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

  test('returns the matches and a note when a part could not be searched', async ({ skip }) => {
    skip(process.geteuid?.() === 0 && isolation === 'none', 'root may read everything')
    const { search, root } = createTask({ a: 'token\n', 'closed/b': 'token\n' }, options)
    chmodSync(join(root, 'closed'), 0)
    try {
      const output = await search({ pattern: 'token' })
      skip(output.includes('closed/b'), 'this isolation leaves root its rights over files')
      // Without isolation the reason is not repeated: the name may lead elsewhere by now.
      expect(output).toMatch(
        /^a:1:token\n\[ripgrep could not search everything: .*closed.*(?:ermission denied|not searched)/,
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
