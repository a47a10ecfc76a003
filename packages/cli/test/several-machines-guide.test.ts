// The commands and programs of docs/guides/several-machines.md, as the page has them.
import { copyFileSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { describe, expect, onTestFinished, test } from 'vitest'
import { env, missing, reason } from './fixtures/queue.ts'
import { runSmithers, startSmithers } from './fixtures/smithers-process.ts'
import { temporaryFolder } from './fixtures/temporary-folder.ts'

const repository = join(import.meta.dirname, '../../..')
const page = readFileSync(join(repository, 'docs/guides/several-machines.md'), 'utf8')
const commands = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, text = '']) =>
  text.trimEnd().split('\n'),
)

/** The arguments of the page's only command line that begins so. */
function argumentsAfter(start: string): string[] {
  const lines = commands.filter((line) => `${line} `.startsWith(`${start} `))
  expect(lines, start).toHaveLength(1)
  return (lines[0] ?? '').slice(start.length).trim().split(/ +/).filter(Boolean)
}

describe.skipIf(missing !== undefined)(`the guide of several machines${reason}`, () => {
  test('runs a queued run in a worker', async () => {
    const cwd = temporaryFolder()
    const programs = join(repository, 'packages/worker/test/fixtures/programs')
    copyFileSync(join(programs, 'guide-workflows.ts'), join(cwd, 'workflows.ts'))
    copyFileSync(join(programs, 'guide-enqueue.ts'), join(cwd, 'enqueue.ts'))
    symlinkSync(join(import.meta.dirname, '../node_modules'), join(cwd, 'node_modules'))

    const worker = startSmithers(['worker', ...argumentsAfter('npx smithers worker')], { cwd, env })
    onTestFinished(async () => {
      worker.kill('SIGKILL')
      await worker.outcome
    })
    const enqueue = ['enqueue.ts', ...argumentsAfter('node enqueue.ts')]
    await execa(process.execPath, ['--conditions=@smithers/source', ...enqueue], { cwd, env })
    const runs = argumentsAfter('npx smithers runs')
    const shown = async (): Promise<string> =>
      (await runSmithers(['runs', ...runs], { cwd, env })).stdout
    await expect.poll(shown).toMatch(/^greet-mia .*finished/m)
    worker.kill('SIGTERM')
    const { exitCode, stderr } = await worker.outcome
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining('blue takes runs of greet')])
  })
})
