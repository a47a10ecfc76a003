import { sandboxOptions } from '@smithers/sandbox/options'
import { describe, expect, test } from 'vitest'
import { commandLimits, resolveLimits } from '../../src/options/limits.ts'

describe('resolveLimits', () => {
  test('fills in the defaults', () => {
    expect(resolveLimits({})).toEqual({
      timeoutMs: 60_000,
      maxOutputBytes: 200_000,
      processes: null,
      memoryMb: null,
      fileMb: null,
      cpuSeconds: null,
    })
  })

  test('keeps the limits of the sandbox where a command has none of its own', () => {
    const defaults = resolveLimits({ timeoutMs: 5, memoryMb: 7 })
    expect(resolveLimits({ timeoutMs: 9 }, defaults)).toMatchObject({ timeoutMs: 9, memoryMb: 7 })
  })
})

describe('sandboxOptions.limits', () => {
  const read = (limits: object): unknown => sandboxOptions.limits(limits, 'limits', sandboxOptions)

  test.each(Object.keys(commandLimits) as (keyof typeof commandLimits)[])(
    '%s takes 1 and its maximum, and nothing beyond',
    (name) => {
      const { maximum } = commandLimits[name]
      expect(read({ [name]: 1 })).toEqual({ [name]: 1 })
      expect(read({ [name]: maximum })).toEqual({ [name]: maximum })
      for (const value of [0, -1, 1.5, maximum + 1, Number.NaN, Number.POSITIVE_INFINITY]) {
        expect(() => read({ [name]: value })).toThrow(
          expect.objectContaining({
            code: 'INVALID_INPUT',
            message: expect.stringContaining(`limits.${name} is ${value}. Pass a whole number`),
          }),
        )
      }
    },
  )
})
