import { describe, expect, test } from 'vitest'
import { createTask } from '../fixtures/grep-task.ts'

describe.each(['none', 'auto'] as const)('grep with isolation %s', (isolation) => {
  const options = { isolation }

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
})
