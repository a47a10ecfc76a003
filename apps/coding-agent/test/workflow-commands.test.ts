import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runSmithers, startSmithers } from './fixtures/smithers-process.ts'
import { temporaryFolder } from '../../../packages/cli/test/fixtures/temporary-folder.ts'

const workflow = `
import { bash } from '@smithers/builtin-tools'
import { createSmithers } from '@smithers/orchestrator'
import { existsSync, writeFileSync } from 'node:fs'
import { z } from 'zod'

const { Workflow, Task, smithers, outputs } = createSmithers({
  input: z.object({ file: z.string() }),
  result: z.object({ text: z.string() }),
})
const call = { toolCallId: 'call', messages: [] }

export default smithers((ctx) => (
  <Workflow name="shout">
    <Task id="list" output={outputs.result}>
      {async () => ({ text: (await bash.execute({ cmd: 'ls' }, call)).trim() })}
    </Task>
    <Task id="gate">
      {async ({ signal }) => {
        if (existsSync(ctx.input.file)) return 'open'
        if (ctx.input.file.endsWith('broken')) throw new Error('the gate is broken')
        writeFileSync(ctx.input.file + '.reached', '')
        await new Promise((_resolve, reject) => {
          setInterval(() => {}, 1000)
          signal.addEventListener('abort', () => reject(signal.reason))
        })
      }}
    </Task>
  </Workflow>
))
`

interface Place {
  readonly folder: string
  readonly file: string
  readonly gate: string
  readonly log: string
}

function place(gateName = 'gate'): Place {
  const folder = temporaryFolder()
  const project = join(folder, 'project')
  mkdirSync(project)
  const file = join(project, 'workflow.tsx')
  writeFileSync(file, workflow)
  return { folder, file, gate: join(folder, gateName), log: join(folder, 'runs.db') }
}

function up({ file, gate, log }: Place, ...more: string[]): string[] {
  return [
    'up',
    file,
    '--input',
    JSON.stringify({ file: gate }),
    '--log',
    log,
    '--run',
    'r1',
    ...more,
  ]
}

describe('smithers up', () => {
  test('runs a workflow of a .tsx file in its folder and prints what it made', async () => {
    const here = place()
    writeFileSync(here.gate, '')
    const { exitCode, stdout, stderr } = await runSmithers(up(here))
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^ {4} *1 bash {2}ls .* ok$/m)
    expect(stdout).toMatch(/^✓ list {2}/m)
    expect(JSON.parse(stdout.slice(stdout.indexOf('\n{\n')))).toEqual({
      result: { text: 'workflow.tsx' },
    })
  })

  test('gives --root and the limits to the tools', async () => {
    const here = place()
    writeFileSync(here.gate, '')
    const limits = ['--max-output-bytes', '4000', '--tool-timeout-ms', '9000']
    const root = join(here.folder, 'other')
    mkdirSync(root)
    writeFileSync(join(root, 'seen.txt'), '')
    const { stdout } = await runSmithers(up(here, '--root', root, ...limits, '--json'))
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { type: string })
    expect(events.at(-1)).toEqual({
      type: 'outputs',
      outputs: { result: { text: 'seen.txt' } },
    })
    expect(events.map(({ type }) => type)).toContain('call-end')
  })

  test.each([
    [['up', 'missing.tsx'], 'There is no workflow at missing.tsx.'],
    [['up', 'runs.db'], 'runs.db is not a program.'],
    [['up', 'empty.ts'], 'empty.ts exports no workflow.'],
    [['up', 'wrong.tsx'], 'The workflow wrong.tsx cannot be loaded:'],
    [['up', 'project/workflow.tsx', '--input', '{'], '--input is not JSON:'],
    [['up', 'project/workflow.tsx', '--log', 'no/where.db'], "The log's folder "],
    [['up', 'project/workflow.tsx', '--log', 'project'], 'The log project is a directory.'],
    [
      ['up', 'project/workflow.tsx', '--input', '{"file":"x"}', '--max-output-bytes', '99999999'],
      'maxOutputBytes must be a positive number',
    ],
    [
      ['up', 'project/workflow.tsx', '--input', '{}'],
      "The input does not match the workflow's schema",
    ],
    [['up', 'project/workflow.tsx', '--root', 'nowhere'], '--root nowhere is not a directory.'],
    [['resume', 'r1'], 'There is no log at /'],
    [
      ['up', 'project/workflow.tsx', '--log', 'project/runs.db'],
      'The log project/runs.db is inside the root',
    ],
    [
      ['up', 'project/workflow.tsx', '--log', 'link/runs.db'],
      'The log link/runs.db is inside the root',
    ],
    [
      ['up', 'project/workflow.tsx', '--root', '.', '--log', 'runs.db'],
      'The log runs.db is inside the root',
    ],
    [['why', 'r1', '--log', 'nothing.db'], 'There is no log at nothing.db.'],
  ])('answers %j with one line and exit code 2', async (args, message) => {
    const { folder } = place()
    for (const [name, text] of [
      ['runs.db', ''],
      ['empty.ts', 'export const nothing = 1'],
      ['wrong.tsx', 'import "./gone.ts"'],
    ] as const) {
      writeFileSync(join(folder, name), text)
    }
    symlinkSync('project', join(folder, 'link'))
    const before = readdirSync(folder, { recursive: true })
    const { exitCode, stderr } = await runSmithers(args, { cwd: folder })
    expect(exitCode).toBe(2)
    expect(stderr).toContain(`smithers: ${message}`)
    expect(stderr.trim().split('\n')).toHaveLength(1)
    // Nothing was begun, so there is nothing to resume, and no file.
    expect(readdirSync(folder, { recursive: true })).toEqual(before)
  })

  test('lets the right input begin the run that a wrong one could not', async () => {
    const { folder, file, gate } = place()
    writeFileSync(gate, '')
    const begin = (input: object): ReturnType<typeof runSmithers> =>
      runSmithers(['up', file, '--run', 'r2', '--input', JSON.stringify(input)], { cwd: folder })
    const wrong = await begin({ fil: 1 })
    expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining('file: ')])
    expect((await begin({ file: gate })).exitCode).toBe(0)
  })
})

describe('smithers resume', () => {
  test('continues after Ctrl-C without running finished tasks again', async () => {
    const here = place()
    const first = startSmithers(up(here))
    await untilPrinted(first.stdout, /✓ list/)
    await expect.poll(() => existsSync(`${here.gate}.reached`)).toBe(true)
    first.kill('SIGINT')
    const stopped = await first.outcome
    expect(stopped.exitCode).toBe(130)
    expect(stopped.stdout).toContain(`Resume with: smithers resume r1 --log ${here.log}`)
    expect(await explained(here)).toMatch(
      /^Run r1 of workflow "shout" was stopped at .* One task has finished\. Task "gate" was interrupted in attempt 1\./,
    )

    writeFileSync(here.gate, '')
    const resumed = await runSmithers(['resume', 'r1', '--log', here.log])
    expect(resumed.exitCode).toBe(0)
    expect(resumed.stdout).toContain('resumed, 1 task done')
    expect(resumed.stdout).not.toContain('✓ list')
    expect(await explained(here)).toMatch(/finished at .*\.$/)
    const again = await runSmithers(['resume', 'r1', '--log', here.log])
    expect([again.exitCode, again.stderr]).toEqual([0, ''])
    expect(again.stdout).toContain('This run has already finished; nothing was run again.')
    expect(JSON.parse(again.stdout.slice(again.stdout.indexOf('\n{\n')))).toEqual({
      result: { text: 'workflow.tsx' },
    })
  })

  test('continues after kill -9, and reports the kill until then', async () => {
    const here = place()
    const first = startSmithers(up(here))
    await untilPrinted(first.stdout, /✓ list/)
    await expect.poll(() => existsSync(`${here.gate}.reached`)).toBe(true)
    expect(await explained(here)).toMatch(
      /is running in process .* It waits for task "gate", attempt 1, started \d+ s ago\./,
    )
    const second = await runSmithers(['resume', 'r1', '--log', here.log])
    expect(second.exitCode).toBe(1)
    expect(second.stderr).toContain(`is running in another process (${first.pid} on `)

    first.kill('SIGKILL')
    await first.outcome
    expect(await explained(here)).toMatch(
      new RegExp(`was interrupted: its process ${first.pid} on \\S+ is gone\\.`),
    )
    const { stdout } = await runSmithers(['runs', '--log', here.log])
    expect(stdout).toMatch(/^r1 +shout +interrupted +1 of 2/m)
    writeFileSync(here.gate, '')
    expect((await runSmithers(['resume', 'r1', '--log', here.log])).exitCode).toBe(0)
  })
})

describe('smithers resume, without the file of the workflow', () => {
  test('asks for it, and resumes with one that has moved', async () => {
    const here = place('broken')
    expect((await runSmithers(up(here))).exitCode).toBe(1)
    const moved = join(here.folder, 'project', 'moved.tsx')
    renameSync(here.file, moved)
    const lost = await runSmithers(['resume', 'r1', '--log', here.log])
    expect([lost.exitCode, lost.stderr]).toEqual([
      2,
      `smithers: The workflow of run r1 is no longer at ${here.file}. Give --workflow FILE.\n`,
    ])
    writeFileSync(here.gate, '')
    const found = await runSmithers(['resume', 'r1', '--log', here.log, '--workflow', moved])
    expect(found.exitCode).toBe(0)
  })
})

describe('smithers why', () => {
  test('explains why a run failed', async () => {
    const here = place('broken')
    const { exitCode, stderr } = await runSmithers(up(here))
    expect(exitCode).toBe(1)
    expect(stderr).toContain('the gate is broken')
    // The command that resumes is on stdout, once.
    expect(stderr).not.toContain('runId')
    expect(await explained(here)).toMatch(
      /failed at .*\. One task has finished\. Task "gate" failed in attempt 1: the gate is broken\. "smithers resume r1 --log \S+" continues from here/,
    )
  })

  test('names runs that are not there and leaves no file behind', async () => {
    const { folder } = place()
    const { exitCode } = await runSmithers(['runs'], { cwd: folder })
    expect(exitCode).toBe(2)
    expect(existsSync(join(folder, 'smithers.db'))).toBe(false)
    expect(readFileSync(join(folder, 'project/workflow.tsx'), 'utf8')).toBe(workflow)
  })
})

async function explained({ log }: Place): Promise<string> {
  return (await runSmithers(['why', 'r1', '--log', log])).stdout.trim()
}

async function untilPrinted(stream: NodeJS.ReadableStream | null, pattern: RegExp): Promise<void> {
  let printed = ''
  await new Promise<void>((resolve) => {
    stream?.on('data', (chunk: Buffer) => {
      printed += chunk.toString()
      if (pattern.test(printed)) resolve()
    })
  })
}
