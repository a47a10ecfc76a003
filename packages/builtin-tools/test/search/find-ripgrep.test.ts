import { codingTools } from '@smithers/builtin-tools'
import { runWithToolContext } from '@smithers/tool-core'
import { expect, it, vi } from 'vitest'
import { code } from '../fixtures/error-code.ts'
import { createFileTask } from '../fixtures/file-task.ts'

vi.mock('@vscode/ripgrep', () => ({ rgPath: '/nowhere/rg' }))

it('names the tool that failed when there is no ripgrep', async () => {
  vi.stubEnv('PATH', '/nowhere')
  const call = { toolCallId: 'call-1', messages: [] }
  const { context } = createFileTask({ a: 'x' }, { isolation: 'none' })
  const run = <Value>(work: () => Value): Value => runWithToolContext(context, work)
  const { glob, grep } = codingTools
  await expect(run(() => glob.execute({ pattern: '*' }, call))).rejects.toThrow(
    code('TOOL_GLOB_FAILED'),
  )
  await expect(run(() => grep.execute({ pattern: 'x' }, call))).rejects.toThrow(
    code('TOOL_GREP_FAILED'),
  )
  vi.unstubAllEnvs()
})
