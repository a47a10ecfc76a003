import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createToolContext, createToolRun, defineTool, withGates } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { callOptions } from '../fixtures/charge-tool.ts'

const schema = z.object({ n: z.number() })

function define(options: object): unknown {
  return defineTool({ name: 'act', schema, execute: () => 1, ...options })
}

function breaker(circuitBreakerCooldownMs: unknown): object {
  return { retry: { circuitBreakerThreshold: 1, circuitBreakerCooldownMs } }
}

describe('defineTool', () => {
  test.each<[object, RegExp]>([
    [{ key: 'tsk' }, /key must be 'call', 'task' or a function, got 'tsk'/],
    [{ key: async () => 1 }, /key must be a function that returns its value at once/],
    [{ effectScope: 'inside' }, /effectScope must be 'workspace', 'external' or a function/],
    [{ onRetry: 'again' }, /onRetry must be one of 'rerun', 'reuse', 'warn', 'block'/],
    [{ verify: 5 }, /verify must be a function, got 5/],
    [{ logInput: 'x' }, /logInput must be a function/],
    [{ logOutput: async () => 1 }, /logOutput must be a function that returns its value at once/],
    [{ warn: true }, /warn must be a function/],
    [{ description: 5 }, /description must be a text or a function/],
    [{ finalAnswer: 'yes' }, /finalAnswer must be true or false, got 'yes'/],
    [{ sideEffect: 'false' }, /sideEffect must be true or false, got 'false'/],
    [{ timeoutMs: 0 }, /timeoutMs must be a number of milliseconds above 0 and up to 2147483647/],
    [{ timeoutMs: 3e9 }, /timeoutMs must be .* got 3000000000/],
    [{ timeoutMs: '5' }, /timeoutMs must be .* got '5'/],
    [{ cache: 5 }, /cache must be true, false or \{ keyFn, ttlMs, scope \}/],
    [{ cache: { ttl: 5 } }, /cache: unknown option "ttl".*keyFn, ttlMs, scope/],
    [{ cache: { ttlMs: -1 } }, /cache\.ttlMs must be/],
    [{ cache: { ttlMs: '5' } }, /cache\.ttlMs must be .* got '5'/],
    [{ cache: { ttlMs: null } }, /cache\.ttlMs must be .* got null/],
    [{ cache: { scope: 'all' } }, /cache\.scope must be one of 'run', 'invoke', got 'all'/],
    [{ cache: { keyFn: async () => 1 } }, /cache\.keyFn must be a function that returns/],
    [{ retry: 3 }, /retry must be \{ maxRetries/],
    [{ retry: { retries: 5 } }, /retry: unknown option "retries".*maxRetries/],
    [{ retry: { backoffMs: 1 } }, /retry\.backoffMs has no effect without retry\.maxRetries/],
    [{ retry: { shouldRetry: () => true } }, /retry\.shouldRetry has no effect without/],
    [
      { retry: { circuitBreakerCooldownMs: 5 } },
      /no effect without retry\.circuitBreakerThreshold/,
    ],
    [breaker('5'), /retry\.circuitBreakerCooldownMs must be .* got '5'/],
    [breaker(null), /retry\.circuitBreakerCooldownMs must be .* got null/],
    [{ retry: { maxRetries: 1, shouldRetry: async () => false } }, /retry\.shouldRetry must be/],
    [{ retry: { maxRetries: 1, backoffMs: 3e9 } }, /retry\.backoffMs must be .*2147483647/],
    [{ retry: { maxRetries: 1.5 } }, /retry\.maxRetries must be a whole number from 0, got 1\.5/],
    [{ approvalPrompt: 'Sure?' }, /approvalPrompt has no effect without needsApproval/],
    [{ approvalDefaults: {} }, /approvalDefaults has no effect without needsApproval/],
    [{ needsApproval: 'yes' }, /needsApproval must be true, false or a function/],
    [{ needsApproval: true, approvalPrompt: async () => 'x' }, /approvalPrompt must be a function/],
    [{ needsApproval: true, approvalTtlMs: 0 }, /approvalTtlMs must be/],
    [{ needsApproval: true, approvalTtlMs: '5' }, /approvalTtlMs must be .* got '5'/],
    [{ executionsCounted: 'successes' }, /executionsCounted has no effect without/],
    [{ maxExecutionsPerRun: -1 }, /maxExecutionsPerRun must be a whole number from 0/],
    [{ maxExecutionsPerRun: 1, executionsCounted: 'all' }, /executionsCounted must be one of/],
  ])('refuses %j, naming the option and what is allowed', (options, message) => {
    expect(() => define(options)).toThrow(
      expect.objectContaining({ code: 'INVALID_TOOL', message: expect.stringMatching(message) }),
    )
  })

  test.each([
    { needsApproval: false, approvalPrompt: 'Sure?' },
    { retry: { maxRetries: 0, backoffMs: 1 } },
    { maxExecutionsPerRun: null, executionsCounted: 'successes' },
    { cache: false, retry: undefined, verify: undefined, key: undefined },
    { timeoutMs: 2_147_483_647, approvalTtlMs: undefined },
    breaker(Infinity),
  ])('takes %j: what is switched off may stay described', (options) => {
    expect(() => define(options)).not.toThrow()
  })

  test('refuses gates of another definition with the same words', () => {
    const tool = defineTool({ name: 'act', schema, execute: () => 1 })
    expect(() => withGates(tool, { approvalPrompt: 'Sure?' })).toThrow(
      'approvalPrompt has no effect without needsApproval',
    )
  })

  test.each([
    ['a promise', () => Promise.reject(new Error('later')), 'it returned a promise'],
    [
      'an error',
      () => {
        throw new Error('no order id')
      },
      'no order id',
    ],
  ])('says what is wrong with a key that comes to %s', async (_what, key, said) => {
    const act = defineTool({ name: 'act', schema, key, execute: () => 1 })
    const log = createMemoryLog()
    const run = createToolRun({ log })
    await expect(run.tools({ act }).act.execute({ n: 1 }, callOptions())).rejects.toMatchObject({
      code: 'INVALID_TOOL',
      message: expect.stringContaining(`its key failed: ${said}`) as string,
    })
    expect(log.snapshot()).toMatchObject([{ status: 'error', effect: 'none' }])
  })
})

describe('createToolContext', () => {
  test('refuses a lease that no timer can renew', () => {
    for (const leaseMs of [3_600_001, 1e10]) {
      expect(() => createToolContext({ leaseMs })).toThrow(
        expect.objectContaining({
          code: 'INVALID_INPUT',
          message: expect.stringContaining('at most 3600000 milliseconds (one hour)') as string,
        }),
      )
    }
    expect(() => createToolContext({ leaseMs: 3_600_000 })).not.toThrow()
  })
})
