import { SmithersError, type Verification } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { describe, expect, test, vi } from 'vitest'
import { ann, createCharge } from '../fixtures/charge-attempts.ts'

describe('verify', () => {
  test('answers in place of a call that did happen', async () => {
    const log = createMemoryLog()
    const verify = vi.fn<() => Verification<string>>(() => ({
      happened: true,
      output: 'found ch_1',
    }))
    const { charged, attempt } = createCharge({ verify, fails: new Error('reset') })
    await attempt(log, 1).catch(() => {})
    expect(await attempt(log, 2)).toBe('found ch_1')
    expect(charged).toHaveLength(1)
    expect(verify.mock.calls[0]).toMatchObject([
      ann,
      {
        outcome: 'unknown',
        attempt: 1,
        inputJson: JSON.stringify(ann),
        idempotencyKey: charged[0],
      },
      { attempt: 2, idempotencyKey: charged[0] },
    ])
    const [first, second] = log.snapshot()
    expect(second).toMatchObject({ status: 'success', effect: 'none', replayOf: first?.callToken })
  })

  test('lets a call run that did not happen', async () => {
    const log = createMemoryLog()
    const { attempt } = createCharge({
      onRetry: 'block',
      verify: () => ({ happened: false }),
      fails: new Error('reset'),
    })
    await attempt(log, 1).catch(() => {})
    expect(await attempt(log, 2)).toBe('charged ann 2')
  })

  test.each([
    ['warn', 'charged ann 2'],
    ['block', 'TOOL_CALL_BLOCKED'],
  ] as const)('that cannot tell leaves it to %s', async (onRetry, expected) => {
    const log = createMemoryLog()
    const { attempt } = createCharge({
      onRetry,
      verify: () => ({ happened: 'unknown' }),
      fails: new Error('reset'),
    })
    await attempt(log, 1).catch(() => {})
    const answer = await attempt(log, 2).catch((error: SmithersError) => error.code)
    expect(answer).toBe(expected)
  })

  test('that fails keeps the call from running', async () => {
    const log = createMemoryLog()
    const { charged, attempt } = createCharge({
      verify: () => {
        throw new Error('provider is down')
      },
      fails: new Error('reset'),
    })
    await attempt(log, 1).catch(() => {})
    await expect(attempt(log, 2)).rejects.toMatchObject({ code: 'TOOL_OUTCOME_UNKNOWN' })
    expect(charged).toHaveLength(1)
  })

  test('is not asked about a first call, nor about a known success', async () => {
    const log = createMemoryLog()
    const verify = vi.fn<() => Verification<string>>(() => ({ happened: false }))
    const { attempt } = createCharge({ onRetry: 'reuse', verify })
    await attempt(log, 1)
    expect(await attempt(log, 2)).toBe('charged ann 1')
    expect(verify).not.toHaveBeenCalled()
  })
})
