import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readHost } from '../../src/egress/host.ts'
import { decideByRules, readRules } from '../../src/egress/rules.ts'

function isAllowed(allow: string[], deny: string[], host: string, port: number): boolean {
  const read = readHost(host)
  return read !== null && decideByRules(readRules(allow, deny), read, port).allowed
}

describe('rules of hosts', () => {
  test.each([
    [['example.com'], 'example.com', 443, true],
    [['example.com'], 'example.com', 80, true],
    [['example.com'], 'EXAMPLE.com.', 443, true],
    [['example.com'], 'example.com', 22, false],
    [['example.com'], 'www.example.com', 443, false],
    [['example.com'], 'notexample.com', 443, false],
    [['*.example.com'], 'example.com', 443, false],
    [['*.example.com'], 'a.b.example.com', 443, true],
    [['*.example.com'], 'badexample.com', 443, false],
    [['example.com:22'], 'example.com', 22, true],
    [['example.com:22'], 'example.com', 443, false],
    [['example.com:*'], 'example.com', 9, true],
    [['192.0.2.7:5432'], '192.0.2.7', 5432, true],
    [['192.0.2.7:5432'], '192.0.2.7', 443, false],
    [['[2001:db8::1]:443'], '[2001:db8:0::1]', 443, true],
    [[], 'example.com', 443, false],
  ] as const)('%j and %s:%d give %s', (allow, host, port, expected) => {
    expect(isAllowed([...allow], [], host, port)).toBe(expected)
  })

  test('deny wins, and without a port means every port', () => {
    expect(isAllowed(['*.example.com:*'], ['bad.example.com'], 'bad.example.com', 22)).toBe(false)
    expect(isAllowed(['*.example.com:*'], ['bad.example.com'], 'good.example.com', 22)).toBe(true)
    expect(isAllowed(['example.com:*'], ['example.com:22'], 'example.com', 443)).toBe(true)
    expect(isAllowed(['example.com:*'], ['example.com:22'], 'example.com', 22)).toBe(false)
  })

  test.each([
    '',
    '*',
    'https://example.com',
    'example.com/path',
    'a*.com',
    '*.*.com',
    'bücher.de',
    '*.192.0.2.7',
    '127.1',
    'a:',
    'a:0',
    'a:b',
    '::1',
    'user@a.com',
  ])('refuses the rule %j and names it', (rule) => {
    expect(() => readRules(['example.com', rule], [])).toThrow(
      expect.objectContaining({
        code: 'INVALID_INPUT',
        message: expect.stringContaining('network.allow[1]'),
      }),
    )
  })

  test('whatever is allowed, a denied host stays denied', () => {
    const name = fc.domain().filter((each) => readHost(each) !== null)
    fc.assert(
      fc.property(name, fc.integer({ min: 1, max: 65_535 }), (host, port) => {
        expect(isAllowed([host, `${host}:*`, `${host}:${port}`], [host], host, port)).toBe(false)
        expect(isAllowed([`${host}:*`], [`*.${host}`], `a.${host}`, port)).toBe(false)
      }),
    )
  })
})
