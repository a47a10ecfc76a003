import {
  codingTools,
  createCommandTools,
  createLiveBash,
  createBuiltinTools,
} from '@smithers/builtin-tools'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'

const strict = { strictArguments: true }

function refuses(tool: { readonly inputSchema: unknown }, input: unknown): boolean {
  return !(tool.inputSchema as z.ZodType).safeParse(input).success
}

const forms = [
  ['bash', (options: object) => createBuiltinTools(options).bash],
  ['bash of createCommandTools', (options: object) => createCommandTools(options).bash],
  ['bash of createLiveBash', createLiveBash],
] as const

describe.each(forms)('%s', (_, create) => {
  test.each([
    [{ cmd: 'pwd', dir: 'x' }],
    [{ cmd: 'pwd', opts: { dir: 'x' } }],
    [{ command: 'pwd', opts: { cwd: '.', dir: 'x' } }],
  ])('refuses %j where arguments are strict', (input) => {
    expect(refuses(create(strict), input)).toBe(true)
    expect(refuses(create({}), input)).toBe(false)
  })

  test('takes what it knows, and keeps its rules and descriptions', () => {
    const tool = create(strict)
    expect(refuses(tool, { cmd: 'pwd', args: [], opts: { cwd: 'x' }, timeoutMs: 5 })).toBe(false)
    expect(refuses(tool, { cmd: 'pwd', opts: undefined })).toBe(false)
    expect(refuses(tool, { cmd: 'pwd', command: 'pwd' })).toBe(true)
    const shown = JSON.stringify(z.toJSONSchema(tool.inputSchema as z.ZodType))
    expect(shown).toContain('Working directory under the root.')
    expect(shown).toContain('Arguments of cmd, one per entry.')
  })
})

test('bash_output and bash_kill refuse unknown arguments where they are strict', () => {
  const { bash_output, bash_kill } = createCommandTools(strict)
  const loose = createCommandTools({})
  for (const [tool, other] of [
    [bash_output, loose.bash_output],
    [bash_kill, loose.bash_kill],
  ] as const) {
    expect(refuses(tool, { id: 'job_1', wait: 5 })).toBe(true)
    expect(refuses(other, { id: 'job_1', wait: 5 })).toBe(false)
    expect(refuses(tool, { id: 'job_1' })).toBe(false)
  }
})

test('the coding tools refuse unknown arguments inside others', () => {
  expect(refuses(codingTools.bash, { cmd: 'pwd', opts: { dir: 'x' } })).toBe(true)
})
