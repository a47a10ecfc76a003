import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Outcome, runSmithers } from '../fixtures/smithers-process.ts'
import { temporaryFolder } from '../../../../packages/cli/test/fixtures/temporary-folder.ts'

const workflow = `
import { createBuiltinTools, createSmithers } from '@smithers/orchestrator'
import { existsSync } from 'node:fs'
import { said } from './said.ts'

const { Workflow, Task, smithers } = createSmithers({})
const { write, bash } = createBuiltinTools({ warn() {} })
const call = { toolCallId: 'call', messages: [] }
const tried = (result) => result.then(() => 'allowed', (error) => error.code)

export default smithers(() => (
  <Workflow name="own">
    <Task id="attack">
      {async () => [
        await tried(write.execute({ path: 'workflow.tsx', content: 'planted' }, call)),
        await tried(write.execute({ path: 'said.ts', content: 'planted' }, call)),
        await tried(bash.execute({ cmd: 'sh', args: ['-c', 'echo planted > said.ts'] }, call)),
        await tried(write.execute({ path: 'notes.txt', content: 'honest' }, call)),
      ]}
    </Task>
    <Task id="gate">
      {async () => {
        if (!existsSync(process.cwd() + '/../gate')) throw new Error('the gate is closed')
        return said + (await import('lazy-package')).default
      }}
    </Task>
  </Workflow>
))
`

interface Project {
  readonly folder: string
  readonly root: string
  readonly evidence: string
  readonly planted: string
  readonly smithers: (...args: string[]) => Promise<Outcome>
}

/** A run that has begun and failed, in a project whose folder is the root. */
async function interruptedRun(): Promise<Project> {
  const folder = temporaryFolder()
  const root = join(folder, 'project')
  mkdirSync(join(root, 'node_modules/lazy-package'), { recursive: true })
  writeFileSync(join(root, 'package.json'), '{"type":"module"}')
  writeFileSync(join(root, 'node_modules/lazy-package/index.js'), "module.exports = ' lazily'")
  writeFileSync(join(root, 'workflow.tsx'), workflow)
  writeFileSync(join(root, 'said.ts'), "export const said: string = 'hello'")
  const evidence = join(folder, 'executed')
  const planted = `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(evidence)}, '')\n`
  const smithers = (...args: string[]): Promise<Outcome> => runSmithers(args, { cwd: root })
  const first = await smithers('up', 'workflow.tsx', '--run', 'r1')
  expect([first.exitCode, first.stderr]).toEqual([1, expect.stringContaining('the gate is closed')])
  writeFileSync(join(folder, 'gate'), '')
  return { folder, root, evidence, planted, smithers }
}

describe('smithers resume', () => {
  test('runs an unchanged program, whose tools could not change it', async () => {
    const { root, smithers } = await interruptedRun()
    expect(readFileSync(join(root, 'workflow.tsx'), 'utf8')).toBe(workflow)
    expect(readFileSync(join(root, 'said.ts'), 'utf8')).toContain('hello')
    // The control: the same tools change other files of the same folder.
    expect(readFileSync(join(root, 'notes.txt'), 'utf8')).toBe('honest')
    const resumed = await smithers('resume', 'r1', '--json')
    expect([resumed.exitCode, resumed.stderr]).toEqual([0, ''])
    const ended = resumed.stdout.split('\n').filter((line) => line.includes('"task-end"'))
    expect(ended.map((line) => JSON.parse(line) as object)).toMatchObject([
      { nodeId: 'gate', output: 'hello lazily' },
    ])
  })

  test.each<[what: string, attack: (project: Project) => void, named: string]>([
    [
      'the workflow',
      ({ root, planted }) => writeFileSync(join(root, 'workflow.tsx'), planted + workflow),
      'workflow.tsx',
    ],
    [
      'a file that it imports',
      ({ root, planted }) =>
        writeFileSync(join(root, 'said.ts'), `${planted}export const said = 'hello'`),
      'said.ts',
    ],
    [
      'a file that is gone',
      ({ root }) => renameSync(join(root, 'said.ts'), join(root, 'gone.ts')),
      'said.ts (missing)',
    ],
  ])('asks when a change concerns %s, and executes nothing', async (_what, attack, named) => {
    const project = await interruptedRun()
    attack(project)
    for (const command of [
      ['resume', 'r1'],
      ['up', 'workflow.tsx', '--run', 'r1'],
    ]) {
      const { exitCode, stderr } = await project.smithers(...command)
      expect(exitCode).toBe(2)
      expect(stderr).toContain('The workflow of run r1 has changed since the run began:')
      expect(stderr).toContain(named)
      expect(stderr).toContain('--accept-changed-workflow')
      expect(stderr.trim().split('\n')).toHaveLength(1)
    }
    expect(existsSync(project.evidence)).toBe(false)
  })

  test('executes no package that was planted where the program looks first', async () => {
    const project = await interruptedRun()
    const planted = join(project.root, 'node_modules/@smithers/orchestrator')
    mkdirSync(planted, { recursive: true })
    writeFileSync(join(planted, 'package.json'), '{"type":"module","exports":"./index.js"}')
    writeFileSync(
      join(planted, 'index.js'),
      `${project.planted}export const createSmithers = 1, createBuiltinTools = 1`,
    )
    const { exitCode, stderr } = await project.smithers('resume', 'r1')
    expect(exitCode).toBe(2)
    expect(stderr).toContain('was created or changed after the run began')
    expect(existsSync(project.evidence)).toBe(false)
    // The control: without the check it is what Node executes.
    await project.smithers('resume', 'r1', '--accept-changed-workflow')
    expect(existsSync(project.evidence)).toBe(true)
  })

  test('executes no lazily imported package that was changed after the run began', async () => {
    const project = await interruptedRun()
    const lazy = join(project.root, 'node_modules/lazy-package/index.js')
    writeFileSync(
      lazy,
      `require('node:fs').writeFileSync(${JSON.stringify(project.evidence)}, ''); module.exports = ' planted'`,
    )
    const refused = await project.smithers('resume', 'r1')
    expect(refused.exitCode).toBe(1)
    expect(refused.stderr).toContain('was created or changed after the run began')
    expect(existsSync(project.evidence)).toBe(false)
    const accepted = await project.smithers('resume', 'r1', '--accept-changed-workflow')
    expect(accepted.exitCode).toBe(0)
    expect(existsSync(project.evidence)).toBe(true)
  })
})
