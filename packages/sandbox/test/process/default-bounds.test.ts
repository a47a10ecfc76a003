import { totalmem } from 'node:os'
import { describe, expect, test } from 'vitest'
import { watchedUse } from '../../src/process/resource-limits/default-bounds.ts'

const nothing = { memoryMb: false, processes: false }

describe('the bounds of a command', () => {
  test('are far above honest work and below the machine without limits', () => {
    const { memoryMb, processes } = watchedUse({ memoryMb: null, processes: null }, nothing)
    expect(Number(memoryMb?.limit) * 2 ** 20).toBeLessThan(totalmem())
    expect(memoryMb?.limit).toBeGreaterThan(0)
    expect(processes?.limit).toBe(4_096)
    // This process has not just started two thousand threads.
    expect(processes?.mayBeReached()).toBe(false)
  })

  test('are the limits that were given, always looked at', () => {
    const { memoryMb, processes } = watchedUse({ memoryMb: 10, processes: 20 }, nothing)
    expect([memoryMb?.limit, memoryMb?.mayBeReached()]).toEqual([10, true])
    expect([processes?.limit, processes?.mayBeReached()]).toEqual([20, true])
  })

  test('are not watched where the kernel keeps them', () => {
    const byKernel = { memoryMb: true, processes: true }
    const limits = { memoryMb: 10, processes: null }
    expect(watchedUse(limits, byKernel)).toEqual({ memoryMb: null, processes: null })
  })
})
