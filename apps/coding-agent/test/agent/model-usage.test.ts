import { describe, expect, test } from 'vitest'
import { addUsage, usageText } from '../../src/agent/model-usage.ts'

const step = { usage: { inputTokens: 100, outputTokens: 20 } }

describe('addUsage', () => {
  test('adds the tokens of each step, and invents no cost', () => {
    const used = addUsage(addUsage(null, step), step)
    expect(used).toEqual({ inputTokens: 200, outputTokens: 40, cost: null })
  })

  test('stays null for a provider that reports nothing', () => {
    const usage = { inputTokens: undefined, outputTokens: undefined }
    expect(addUsage(null, { usage })).toBeNull()
  })

  test('adds the cost where a provider reports one', () => {
    const gateway = { ...step, providerMetadata: { gateway: { cost: '0.0012' } } }
    const router = { ...step, providerMetadata: { router: { usage: { cost: 0.002 } } } }
    const used = addUsage(addUsage(null, gateway), router)
    expect(used?.cost).toBeCloseTo(0.0032)
    expect(usageText(used!)).toBe('200 tokens in, 40 out, cost 0.0032')
  })

  test('takes nothing else for a cost', () => {
    const providerMetadata = { odd: { cost: 'much' }, empty: { cost: '' }, none: null }
    expect(addUsage(null, { ...step, providerMetadata })?.cost).toBeNull()
  })
})
