import { describe, expect, test } from 'vitest'
import { commandLimits, resolveLimits } from '../../src/limits.ts'

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

  test.each(Object.keys(commandLimits) as (keyof typeof commandLimits)[])(
    '%s takes 1 and its maximum, and nothing beyond',
    (name) => {
      const { maximum } = commandLimits[name]
      expect(resolveLimits({ [name]: 1 })[name]).toBe(1)
      expect(resolveLimits({ [name]: maximum })[name]).toBe(maximum)
      for (const value of [0, -1, 1.5, maximum + 1, Number.NaN, Number.POSITIVE_INFINITY]) {
        expect(() => resolveLimits({ [name]: value })).toThrow(
          expect.objectContaining({
            code: 'INVALID_INPUT',
            message: expect.stringContaining(`${name} is ${value}. Pass a whole number`),
          }),
        )
      }
    },
  )

  test('keeps the limits of the sandbox where a command has none of its own', () => {
    const defaults = resolveLimits({ timeoutMs: 5, memoryMb: 7 })
    expect(resolveLimits({ timeoutMs: 9 }, defaults)).toMatchObject({ timeoutMs: 9, memoryMb: 7 })
  })
})
