import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readAuthority, readHost } from '../../src/egress/host.ts'

describe('readHost', () => {
  test.each([
    ['Example.COM', 'example.com'],
    ['example.com.', 'example.com'],
    ['my_host-1.test', 'my_host-1.test'],
    ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
    ['192.0.2.7', '192.0.2.7'],
    ['[2001:DB8:0::1]', '2001:db8::1'],
    ['::ffff:127.0.0.1', '127.0.0.1'],
  ])('reads %s as %s', (given, expected) => {
    expect(readHost(given)?.text).toBe(expected)
  })

  test.each([
    '',
    '.',
    'a..b',
    'example.com..',
    'user@example.com',
    'example.com%00.test',
    'exa mple.com',
    'example.com\0',
    'bücher.example',
    'ｅxample.com',
    '127.1',
    '0x7f.0.0.1',
    '0177.0.0.1',
    '2130706433',
    '127.0.0.01',
    '256.1.1.1',
    'a.0x',
    '[::1%lo]',
    'fe80::1%1',
    '[example.com]',
    `${'a'.repeat(64)}.com`,
    'a.'.repeat(127) + 'aa',
  ])('refuses %j', (given) => {
    expect(readHost(given)).toBeNull()
  })

  // Letters that hosts have, beside those by which one spelling becomes another host.
  const piece = fc.constantFrom(
    ...Array.from('abz019.-_:%@[]/\\?#\0 \t'),
    '0x',
    '127',
    'xn--',
    '。',
    '．',
    'ß',
    '\u00ad',
    'K',
    'ﬀ',
    '..',
    '::',
    'ffff:',
  )
  const spelling = fc.oneof(
    fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join('')),
    fc.domain(),
    fc.ipV4(),
    fc.ipV4Extended(),
    fc.ipV6(),
    fc.string(),
  )

  test('accepts only what the URL standard reads as the same host', () => {
    fc.assert(
      fc.property(spelling, (text) => {
        const host = readHost(text)
        if (host === null) return
        const inUrl = text.includes(':') && !text.startsWith('[') ? `[${text}]` : text
        const hostname = new URL(`http://${inUrl}/`).hostname
        // The URL standard keeps a last dot, and mapped addresses as they are.
        expect(readHost(hostname)).toEqual(host)
        if (host.kind === 'name') expect(hostname.replace(/\.$/, '')).toBe(host.text)
      }),
      { numRuns: 5_000 },
    )
  })
})

describe('readAuthority', () => {
  test.each([
    ['example.com:443', 'example.com', 443],
    ['[::1]:8080', '::1', 8080],
  ])('reads %s', (given, host, port) => {
    expect(readAuthority(given)).toMatchObject({ host: { text: host }, port })
  })

  test.each([
    'example.com',
    '::1:443',
    'example.com:0',
    'example.com:65536',
    'example.com:0443',
    'a:b:1',
    ':443',
  ])('refuses %s', (given) => {
    expect(readAuthority(given)).toBeNull()
  })
})
