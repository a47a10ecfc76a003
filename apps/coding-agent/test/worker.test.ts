import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { env, home, missing, openQueue, reason } from '../../../packages/cli/test/fixtures/queue.ts'
import { temporaryFolder } from '../../../packages/cli/test/fixtures/temporary-folder.ts'
import { runSmithers, startSmithers } from './fixtures/smithers-process.ts'

const dinnerBill = fileURLToPath(new URL('../src/demo/dinner-bill.tsx', import.meta.url))

const workflow = `import { appendFileSync } from 'node:fs'
import { createSmithers } from '@smithers/orchestrator'
import { z } from 'zod'

const { Workflow, Task, smithers, outputs } = createSmithers({
  input: z.object({ file: z.string() }),
  written: z.object({ line: z.string() }),
})
export const jot = smithers(({ input }) => (
  <Workflow name="jot">
    <Task id="line" output={outputs.written}>
      {() => {
        appendFileSync(input.file, 'from tsx\\n')
        return { line: 'from tsx' }
      }}
    </Task>
  </Workflow>
))
`

describe.skipIf(missing !== undefined)(`smithers worker of the example app${reason}`, () => {
  test('runs a workflow in TSX, beside the one of the demo', async () => {
    const { enqueue, lines, status } = openQueue('tsx')
    const file = join(temporaryFolder(), 'jot.tsx')
    writeFileSync(file, workflow)
    const worker = startSmithers(['worker', file, dinnerBill, '--queue', 'tsx'], { env })
    onTestFinished(async () => {
      worker.kill('SIGKILL')
      await worker.outcome
    })
    await enqueue('jot', 'tsx')
    await expect.poll(() => status('tsx')).toBe('finished')
    expect(lines()).toEqual(['from tsx'])
    worker.kill('SIGTERM')
    const { exitCode, stderr } = await worker.outcome
    expect(exitCode, stderr).toBe(0)
    expect(stderr).toMatch(/takes runs of jot, dinner-bill from postgres/)
  })
})

describe('smithers worker of the example app, before it works', () => {
  test.for<[string, string]>([
    ['no.tsx', 'There is no workflow at no.tsx'],
    ['a.txt', 'a.txt is not a program'],
  ])('refuses %s', async ([file, message]) => {
    const cwd = temporaryFolder()
    writeFileSync(join(cwd, 'a.txt'), '')
    const args = ['worker', file, '--log', 'postgres://me@127.0.0.1:1/db']
    const { exitCode, stderr } = await runSmithers(args, { cwd, env: home })
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)])
  })
})
