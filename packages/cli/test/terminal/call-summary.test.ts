import { describe, expect, test } from 'vitest'
import { summarizeCall } from '../../src/terminal/call-summary.ts'

describe('summarizeCall', () => {
  test.each([
    ['bash', { cmd: 'node', args: ['--test'] }, 'node --test'],
    [
      'bash',
      { cmd: 'sh', args: ['-lc', "echo 'a b' | wc"] },
      String.raw`sh -lc 'echo '\''a b'\'' | wc'`,
    ],
    ['bash', { cmd: 'ls', opts: { cwd: 'src' } }, 'ls (in src)'],
    ['bash', { cmd: 'touch', args: [''] }, "touch ''"],
    ['grep', { pattern: 'a b', path: 'src' }, "'a b' in src"],
    ['grep', { pattern: 'x' }, 'x in .'],
    ['read', { path: 'a.txt' }, 'a.txt'],
    ['read', { path: 'a.txt', offset: 10, limit: 5 }, 'a.txt:10-14'],
    ['read', { path: 'a.txt', offset: 10 }, 'a.txt:10-'],
    ['write', { path: 'a.txt', bytes: 3, sha256: 'abc' }, 'a.txt'],
    ['order', { sku: 7 }, '{"sku":7}'],
    ['order', undefined, ''],
    ['bash', 'not an object', '"not an object"'],
  ])('%s %j is %s', (toolName, input, summary) => {
    expect(summarizeCall(toolName, input)).toBe(summary)
  })
})
