import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { v5 } from 'uuid'
import { uuidV5 } from '../../src/json/digest.ts'

describe('uuidV5', () => {
  test('gives the UUIDs that the uuid package gives', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.uuid(), (name, namespace) => {
        expect(uuidV5(name, namespace.replaceAll('-', ''))).toBe(v5(name, namespace))
      }),
      { numRuns: 1000 },
    )
  })
})
