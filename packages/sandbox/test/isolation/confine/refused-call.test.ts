import { describe, expect, test } from 'vitest'
import { metadataCalls } from '../../../src/isolation/confine/call-numbers.ts'
import { refusedCall } from '../../../src/isolation/confine/refused-call.ts'

const fchmodat = metadataCalls['fchmodat']?.[process.arch === 'x64' ? 0 : 1] ?? 0

describe('refusedCall', () => {
  test('names a path outside in full, and where the call is allowed', () => {
    expect(refusedCall(fchmodat, '/etc/x', { rootDir: '/root', access: 'write' })).toEqual({
      rule: 'files',
      subject: '/etc/x',
      message: expect.stringMatching(
        /fchmodat on \/etc\/x, which lies outside its root.*only in the root/,
      ),
    })
  })

  test('names a path inside from the root, and why a reading command may not change it', () => {
    const command = { rootDir: '/root', access: 'read' } as const
    expect(refusedCall(fchmodat, '/root/a/b', command)).toEqual({
      rule: 'files',
      subject: 'a/b',
      message: expect.stringContaining("access: 'read'"),
    })
    expect(refusedCall(fchmodat, '/rooted', command).message).toContain('outside')
  })
})
