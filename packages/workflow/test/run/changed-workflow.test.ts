import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createBuiltinTools } from '@smithers/builtin-tools'
import { createMemoryLog } from '@smithers/log-memory'
import { runWorkflow, type WorkflowDefinition } from '@smithers/workflow'

// A separate file, as a person writes it: `smithers(…)` finds out by itself where it is.
const source = (mark: string): string => `
import { createSmithers, Task } from '${import.meta.resolve('../../src/index.ts')}'
const { Workflow, smithers } = createSmithers({})
export const workflow = smithers(() =>
  Workflow({
    name: 'own',
    children: [
      Task({ id: 'work', children: (scope) => globalThis.workOf${process.pid}(scope) }),
      Task({ id: 'mark', children: () => '${mark}' }),
    ],
  }),
)
`

let rootDir: string
let file: string
let version = 0

beforeEach(() => {
  rootDir = realpathSync(mkdtempSync(join(tmpdir(), 'smithers-changed-')))
  mkdirSync(join(rootDir, 'flows'))
  file = join(rootDir, 'flows/own.mjs')
  writeFileSync(file, source('original'))
})

afterEach(() => rmSync(rootDir, { recursive: true }))

/** Imports the file as another process would. */
async function load(): Promise<WorkflowDefinition> {
  version += 1
  const module = (await import(`${pathToFileURL(file).href}?version=${version}`)) as {
    workflow: WorkflowDefinition
  }
  return module.workflow
}

function work(fn: () => unknown): void {
  Object.assign(globalThis, { [`workOf${process.pid}`]: fn })
}

const failing = (): never => {
  throw new Error('the process ends here')
}

describe('a resume', () => {
  test('of a workflow that has changed stops with a question, and runs nothing', async () => {
    const log = createMemoryLog()
    const options = { runId: 'run-1', log, rootDir }
    work(failing)
    await expect(runWorkflow(await load(), options)).rejects.toMatchObject({ code: 'TASK_FAILED' })
    writeFileSync(file, source('planted'))
    let ran = 0
    work(() => {
      ran += 1
    })
    await expect(runWorkflow(await load(), options)).rejects.toMatchObject({
      code: 'WORKFLOW_CHANGED',
      message: expect.stringContaining(file),
      details: { changed: [file] },
    })
    expect(ran).toBe(0)
    // Asked again, it answers the same: the refusal has recorded nothing.
    await expect(runWorkflow(await load(), options)).rejects.toMatchObject({
      code: 'WORKFLOW_CHANGED',
    })
    const accepted = { ...options, acceptChangedWorkflow: true }
    const { tasks } = await runWorkflow(await load(), accepted)
    expect(tasks.map(({ output }) => output)).toEqual([undefined, 'planted'])
  })

  test('of an unchanged workflow asks nothing, nor does one whose file has only moved', async () => {
    for (const move of [false, true]) {
      const log = createMemoryLog()
      const options = { runId: 'run-1', log, rootDir }
      work(failing)
      await expect(runWorkflow(await load(), options)).rejects.toMatchObject({
        code: 'TASK_FAILED',
      })
      if (move) {
        rmSync(file)
        file = join(rootDir, 'moved.mjs')
        writeFileSync(file, source('original'))
      }
      work(() => 'worked')
      const { tasks } = await runWorkflow(await load(), options)
      expect(tasks.map(({ output }) => output)).toEqual(['worked', 'original'])
    }
  })
})

describe('the tools of a run', () => {
  const call = { toolCallId: 'call', messages: [] }
  const patch = '--- a/flows/own.mjs\n+++ b/flows/own.mjs\n@@ -1,1 +1,1 @@\n-\n+// planted\n'

  test.each<[what: string, attack: (tools: ReturnType<typeof createBuiltinTools>) => unknown]>([
    ['write', ({ write }) => write.execute({ path: 'flows/own.mjs', content: 'planted' }, call)],
    ['edit', ({ edit }) => edit.execute({ path: 'flows/own.mjs', patch }, call)],
    [
      'a command',
      ({ bash }) =>
        bash.execute({ cmd: 'sh', args: ['-c', 'echo planted > flows/own.mjs; true'] }, call),
    ],
    [
      'a command that exchanges the folder',
      ({ bash }) =>
        bash.execute(
          {
            cmd: 'sh',
            args: ['-c', 'mv flows old && mkdir flows && echo planted > flows/own.mjs; true'],
          },
          call,
        ),
    ],
  ])('cannot change the program that a resume executes, by %s', async (_what, attack) => {
    const tools = createBuiltinTools({ warn() {} })
    const { readFile } = await import('node:fs/promises')
    // The control: the same call changes a file that is not part of the program.
    const other = join(rootDir, 'flows/other.mjs')
    writeFileSync(other, source('original'))
    work(async () => {
      await tools.write.execute({ path: 'flows/other.mjs', content: 'changed' }, call)
      await Promise.resolve(attack(tools)).catch(() => {})
    })
    await runWorkflow(await load(), { runId: 'run-1', rootDir })
    expect(await readFile(other, 'utf8').catch(() => 'changed')).toBe('changed')
    expect(await readFile(file, 'utf8')).toBe(source('original'))
  })
})
