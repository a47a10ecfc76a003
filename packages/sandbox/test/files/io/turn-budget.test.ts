import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createTurnBudget } from '../../../src/files/io/turn-budget.ts'

describe('createTurnBudget', () => {
  it('runs work at once while there is time, then in later turns, in order', async () => {
    let clock = 0
    const budget = createTurnBudget(4, () => clock)
    const order: string[] = []
    const work = (name: string) => () => {
      clock += 3
      order.push(name)
    }
    expect(budget.run(work('first'))).toBeUndefined()
    expect(budget.run(work('second'))).toBeUndefined()
    const later = ['third', 'fourth', 'fifth', 'sixth', 'seventh'].map((name) =>
      budget.run(work(name)),
    )
    expect(later.every((result) => result instanceof Promise)).toBe(true)
    expect(order).toEqual(['first', 'second'])
    await setImmediate()
    // Two of three milliseconds each: as much as is begun within a turn of four.
    expect(order).toEqual(['first', 'second', 'third', 'fourth'])
    await Promise.all(later.map((result) => Promise.resolve(result)))
    expect(order).toEqual(['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh'])
    await setImmediate()
    expect(budget.run(() => 'free again')).toBe('free again')
  })

  it('returns results and failures of delayed work, and continues', async () => {
    let clock = 0
    const budget = createTurnBudget(1, () => clock)
    void budget.run(() => {
      clock += 2
    })
    const failed = budget.run(() => {
      throw new Error('no')
    })
    const done = budget.run(() => 'done')
    await expect(failed).rejects.toThrow('no')
    expect(await done).toBe('done')
  })
})
