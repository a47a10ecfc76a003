import { currentOwnerId } from '@smithers/tool-core/log'
import { describe, expect, test } from 'vitest'
import { ownerText } from '../../src/runs/owner-text.ts'

describe('ownerText', () => {
  test.each([
    ['vm/4026531836:24483:1524400', '24483 on vm'],
    ['laptop:7:1700000000000', '7 on laptop'],
    ['something else', 'something else'],
    [null, 'unknown'],
  ])('reads %s as %s', (ownerId, text) => {
    expect(ownerText(ownerId)).toBe(text)
  })

  test('finds the number of this process in its own id', () => {
    expect(ownerText(currentOwnerId())).toMatch(new RegExp(`^${process.pid} on `))
  })
})
