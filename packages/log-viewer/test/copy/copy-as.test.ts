import { execFileSync } from 'node:child_process'
import { createMemoryLog } from '@smithers/log-memory'
import { createToolRun, defineTool } from '@smithers/tool-core'
import type { ToolCallRow } from '@smithers/tool-core/log'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { copyAs } from '../../src/copy/copy-as.ts'
import { addCall } from '../fixtures/sample-log.ts'

function rowWith(fields: Parameters<typeof addCall>[1]): ToolCallRow {
  const log = createMemoryLog()
  addCall(log, fields)
  return log.snapshot()[0] as ToolCallRow
}

describe('the command of a call', () => {
  it.each([
    'plain',
    "a'b; touch x",
    '$(touch x)',
    '--help',
    'line\nbreak',
    'escape \u001b]0;x\u0007',
    'ünï',
  ])('passes the token %j as one word, and a shell acts on nothing in it', (callToken) => {
    const { command } = copyAs(rowWith({ callToken }), null)
    // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
    expect(command).not.toMatch(/[\u0000-\u001f]/)
    const words = execFileSync('sh', ['-c', `smithers() { printf '%s\\0' "$@"; }; ${command}`])
    expect(words.toString().split('\0')).toEqual(['show', callToken, ''])
  })
})

describe('the reproduction of a call', () => {
  it('leaves the key out, and says what of the arguments is missing', () => {
    const whole = copyAs(rowWith({ idempotencyKey: 'the-key' }), null).reproduction
    expect(whole).toContain('createToolRun')
    expect(whole).not.toContain('the-key')
    expect(whole).not.toMatch(/Fill them in/)
    const cut = JSON.stringify({ $truncated: true, bytes: 9, sha256: '', head: '{"a"' })
    expect(copyAs(rowWith({ inputJson: cut }), null).reproduction).toContain('too long for the log')
    const hidden = '{"password":"[redacted]"}'
    expect(copyAs(rowWith({ inputJson: hidden }), null).reproduction).toContain('were hidden')
    expect(copyAs(rowWith({ inputJson: null }), null).reproduction).toContain('were not recorded')
  })

  it('runs, and makes the call with the recorded arguments under a new key', async () => {
    const inputJson = JSON.stringify({ text: 'a "quote"\n*/ </script> ${1} `x`' })
    const { reproduction } = copyAs(
      rowWith({ toolName: 'echo', inputJson, idempotencyKey: 'the-key' }),
      null,
    )
    const seen: unknown[] = []
    const echo = defineTool({
      name: 'echo',
      schema: z.object({ text: z.string() }),
      sideEffect: true,
      execute: async (args, ctx) => seen.push([args, ctx.idempotencyKey]),
    })
    const body = reproduction.replaceAll(/^import .*$/gm, '')
    const AsyncFunction = (async () => {}).constructor as new (
      ...parts: string[]
    ) => (...args: unknown[]) => Promise<unknown>
    const run = new AsyncFunction('createToolRun', 'createMemoryLog', 'tools', 'console', body)
    await run(createToolRun, createMemoryLog, { echo }, { log: () => {} })
    expect(seen).toEqual([[JSON.parse(inputJson), expect.not.stringMatching('the-key')]])
  })

  it('lets no text of a call become code', () => {
    const hostile = '*/ process.exit(1) //\n\u2028process.exit(1)'
    const { reproduction } = copyAs(
      rowWith({ toolName: hostile, nodeId: hostile, inputJson: JSON.stringify(hostile) }),
      null,
    )
    const lines = reproduction.split(/[\n\u2028]/)
    expect(lines.filter((line) => /^\s*process\.exit/.test(line))).toEqual([])
  })
})
