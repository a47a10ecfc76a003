import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLiveBash } from '@smithers/builtin-tools'
import { createMemoryLog } from '@smithers/log-memory'
import { createToolRun } from '@smithers/tool-core'
import { describe, expect, test } from 'vitest'
import { call } from '../fixtures/bash-task.ts'
import { code } from '../fixtures/error-code.ts'
import { createFileTask } from '../fixtures/file-task.ts'

function live() {
  const { root } = createFileTask()
  const log = createMemoryLog()
  const run = createToolRun({ runId: 'r', rootDir: root, isolation: 'none', log })
  const { bash } = run.tools({ bash: createLiveBash({ warn() {} }) })
  return { root, log, start: (command: string) => bash.execute({ command }, call) }
}

describe('createLiveBash', () => {
  test('shows what a command has printed so far, and ends with the whole result', async () => {
    const { root, start, log } = live()
    const views = start('echo one; until test -e go; do sleep 0.05; done; echo two')
    const seen: string[] = []
    for await (const view of views) {
      seen.push(view)
      // The command waits for this, so the view came while it ran.
      if (view === 'one\n') writeFileSync(join(root, 'go'), '')
    }
    expect(seen).toContain('one\n')
    expect(seen.at(-1)).toBe('one\ntwo\n')
    expect(log.snapshot()).toMatchObject([{ status: 'success', outputJson: '"one\\ntwo\\n"' }])
  })

  test('fails as bash does, after what was shown', async () => {
    const { start, log } = live()
    const seen: string[] = []
    const failing = (async () => {
      for await (const view of start('echo begun; exit 3')) seen.push(view)
    })()
    await expect(failing).rejects.toThrow(code('TOOL_COMMAND_FAILED'))
    await expect(failing).rejects.toThrow(/exited with code 3\. Output:\nbegun/)
    expect(log.snapshot()).toMatchObject([{ status: 'error' }])
  })

  test('ends the command when the consumer stops listening', async () => {
    const { root, start } = live()
    const counting = 'n=0; while :; do n=$((n+1)); echo $n > count; echo $n; sleep 0.05; done'
    for await (const view of start(counting)) if (view !== '') break
    const count = (): string => readFileSync(join(root, 'count'), 'utf8')
    expect(existsSync(join(root, 'count'))).toBe(true)
    let before: string | undefined
    await expect
      .poll(
        () => {
          const now = count()
          const isSame = before === now
          before = now
          return isSame
        },
        { interval: 300 },
      )
      .toBe(true)
  })
})
