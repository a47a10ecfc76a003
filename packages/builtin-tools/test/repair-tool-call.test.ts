import { codingTools, repairToolCall, tools } from '@smithers/builtin-tools'
import { runWithToolContext } from '@smithers/tool-core'
import { generateText, stepCountIs } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createFileTask } from './fixtures/file-task.ts'

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
}

function repaired(toolName: string, input: unknown, set: object = codingTools) {
  const toolCall = {
    type: 'tool-call',
    toolCallId: 'c',
    toolName,
    input: typeof input === 'string' ? input : JSON.stringify(input),
  }
  const inputSchema = ({ toolName: name }: { toolName: string }): unknown =>
    z.toJSONSchema((set as typeof codingTools)[name as 'read'].inputSchema as z.ZodType, {
      io: 'input',
    })
  return repairToolCall({ toolCall, tools: set, inputSchema }).then(
    (call) => call && [call.toolName, JSON.parse(call.input)],
  )
}

describe('repairToolCall', () => {
  it.each<[string, unknown, string, object]>([
    ['read', { file_path: 'f' }, 'read', { path: 'f' }],
    [
      'Read',
      { filePath: 'f', start_line: '5', limit: '10' },
      'read',
      { path: 'f', offset: 5, limit: 10 },
    ],
    ['read', '"{\\"path\\":\\"f\\"}"', 'read', { path: 'f' }],
    ['write_file', { file: 'f', contents: 'x' }, 'write', { path: 'f', content: 'x' }],
    ['edit', { path: 'f', diff: '@@' }, 'edit', { path: 'f', patch: '@@' }],
    ['edit', { path: 'f', content: '@@' }, 'edit', { path: 'f', patch: '@@' }],
    [
      'edit',
      { file_path: 'f', old_string: 'a', new_string: 'b', replace_all: true },
      'replace',
      { path: 'f', oldText: 'a', newText: 'b', replaceAll: true },
    ],
    [
      'str_replace',
      { path: 'f', old_str: 'a', new_str: 'b' },
      'replace',
      { path: 'f', oldText: 'a', newText: 'b' },
    ],
    [
      'grep',
      { query: 'x', '-i': 'true', output_mode: 'files_with_matches' },
      'grep',
      { pattern: 'x', ignoreCase: true, mode: 'files' },
    ],
    ['glob', { glob_pattern: '*', dir: 'src' }, 'glob', { pattern: '*', path: 'src' }],
    [
      'Bash',
      { script: 'ls | wc', timeout: 1000, cwd: 'src' },
      'bash',
      { command: 'ls | wc', timeoutMs: 1000, opts: { cwd: 'src' } },
    ],
  ])('%s %j means %s %j', async (toolName, input, name, expected) => {
    expect(await repaired(toolName, input)).toEqual([name, expected])
  })

  it.each<[string, string, unknown, object?]>([
    ['a timeout that may be in seconds', 'bash', { command: 'ls', timeout: 60 }],
    ['such a timeout as text', 'bash', { command: 'ls', timeout: '60' }],
    ['two arguments that mean one', 'read', { file_path: 'a', filename: 'b' }],
    ['a missing argument', 'write', { path: 'f' }],
    ['an unknown tool', 'deploy', { path: 'f' }],
    ['text that is not JSON', 'read', '{path: f}'],
    ['nothing to repair', 'read', { path: 'f', mood: 'good' }],
    [
      'a replacement without that tool',
      'edit',
      { path: 'f', old_string: 'a', new_string: 'b' },
      tools,
    ],
  ])('leaves %s to the model', async (_, toolName, input, set) => {
    expect(await repaired(toolName, input, set)).toBeNull()
  })

  it('makes the calls of an agent work', async () => {
    const task = createFileTask({ f: 'one\ntwo\n' })
    let turn = 0
    const calls = [['edit', { file_path: 'f', old_string: 'two', new_string: 'three' }]] as const
    const model = new MockLanguageModelV4({
      doGenerate: async () => {
        const [toolName, input] = calls[turn] ?? []
        turn += 1
        const call = {
          toolCallId: `c${turn}`,
          toolName: toolName ?? '',
          input: JSON.stringify(input),
        }
        const content =
          toolName === undefined
            ? [{ type: 'text' as const, text: 'done' }]
            : [{ type: 'tool-call' as const, ...call }]
        return {
          content,
          finishReason: { unified: 'stop' as const, raw: undefined },
          usage,
          warnings: [],
        }
      },
    })
    const run = (repair: boolean) => {
      turn = 0
      const stopWhen = stepCountIs(3)
      const options = { model, tools: codingTools, prompt: 'go', stopWhen }
      return runWithToolContext(task.context, () =>
        generateText({ ...options, ...(repair ? { repairToolCall } : {}) }),
      )
    }
    await run(false)
    expect(task.text('f')).toBe('one\ntwo\n')
    await run(true)
    expect(task.text('f')).toBe('one\nthree\n')
  })
})

describe('an argument that a tool does not know', () => {
  it.each(['read', 'write', 'edit', 'replace', 'grep', 'glob', 'bash'] as const)(
    'is named by %s of codingTools',
    async (name) => {
      const inputs = {
        read: { path: 'f' },
        write: { path: 'f', content: '' },
        edit: { path: 'f', patch: '' },
        replace: { path: 'f', oldText: 'a', newText: 'b' },
        grep: { pattern: 'a' },
        glob: { pattern: 'a' },
        bash: { cmd: 'true' },
      }
      const task = createFileTask({ f: 'x' })
      const input = { ...inputs[name], start_line: 5 } as never
      const call = { toolCallId: 'c', messages: [] }
      const refused = runWithToolContext(task.context, () => codingTools[name].execute(input, call))
      await expect(refused).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        message: expect.stringContaining('start_line'),
      })
      expect(task.text('f')).toBe('x')
    },
  )

  it('is ignored by the default bundle', async () => {
    const task = createFileTask({ f: 'x' })
    const input = { path: 'f', start_line: 5 }
    const call = { toolCallId: 'c', messages: [] }
    expect(await runWithToolContext(task.context, () => tools.read.execute(input, call))).toBe('x')
  })
})
