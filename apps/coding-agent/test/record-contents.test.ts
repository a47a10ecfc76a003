import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSqliteLog } from '@smithers/log-sqlite'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../../../packages/cli/test/fixtures/temporary-folder.ts'
import { inTurn, run, surroundings } from './fixtures/model-run.ts'
import { runSmithers } from './fixtures/smithers-process.ts'

const stalePatch = '--- greeting.txt\n+++ greeting.txt\n@@ -1 +1 @@\n-Good morning\n+Good night\n'

const workflow = `
import { edit, write } from '@smithers/builtin-tools'
import { createSmithers } from '@smithers/orchestrator'
import { existsSync } from 'node:fs'
import { z } from 'zod'

const { Workflow, Task, smithers } = createSmithers({ input: z.object({ gate: z.string() }) })
const call = { toolCallId: 'call', messages: [] }

export default smithers((ctx) => (
  <Workflow name="greet">
    <Task id="first">
      {async () => {
        await write.execute({ path: 'greeting.txt', content: 'Good evening\\n' }, call)
      }}
    </Task>
    <Task id="gate">
      {async () => {
        if (!existsSync(ctx.input.gate)) throw new Error('the gate is closed')
      }}
    </Task>
    <Task id="last">
      {async () => {
        await edit.execute({ path: 'greeting.txt', patch: ${JSON.stringify(stalePatch)} }, call).catch(() => {})
      }}
    </Task>
  </Workflow>
))
`

describe('--record-contents', () => {
  test('lets show print what a write of run changed, and why a patch failed', async () => {
    const { folder, root, log, server } = await surroundings(
      inTurn([
        { call: { name: 'write', input: { path: 'greeting.txt', content: 'Hello world\n' } } },
        { call: { name: 'edit', input: { path: 'greeting.txt', patch: stalePatch } } },
        { text: 'Done.' },
      ]),
    )
    expect((await run(server, { folder, root, log }, '--record-contents')).exitCode).toBe(0)
    const shown = async (seq: string): Promise<string> =>
      (await runSmithers(['show', seq, '--log', log])).stdout
    expect(await shown('1')).toContain('\n-Hello wrold\n+Hello world\n')
    const failed = await shown('2')
    expect(failed).toContain('\n-Good morning\n+Good night\n')
    expect(failed).toContain('failed TOOL_PATCH_FAILED')
    expect(failed).toMatch(/\nerror\n.*hunk/i)
  })

  test.each([
    { began: ['--record-contents'], resumed: [], kept: ['first', 'last'] },
    { began: [], resumed: ['--record-contents'], kept: ['last'] },
    { began: [], resumed: [], kept: [] },
  ])('of up $began and of resume $resumed keeps patches of $kept', async (given) => {
    const folder = temporaryFolder()
    const [project, gate, log] = ['project', 'gate', 'runs.db'].map((name) => join(folder, name))
    mkdirSync(project as string)
    const file = join(project as string, 'workflow.tsx')
    writeFileSync(file, workflow)
    const where = ['--log', log as string]
    const input = JSON.stringify({ gate })
    const first = ['up', file, '--input', input, '--run', 'r1', ...where, ...given.began]
    expect((await runSmithers(first)).exitCode).toBe(1)
    writeFileSync(gate as string, '')
    expect((await runSmithers(['resume', 'r1', ...where, ...given.resumed])).exitCode).toBe(0)
    const rows = createSqliteLog({ path: log as string })
    const calls = await rows.list({})
    await rows.close()
    expect(calls.map(({ nodeId, toolName }) => [nodeId, toolName])).toEqual([
      ['first', 'write'],
      ['last', 'edit'],
    ])
    const contents = { first: '+Good evening', last: '+Good night' }
    const keeps = calls.filter(({ nodeId, inputJson }) =>
      inputJson?.includes(contents[nodeId as 'first' | 'last']),
    )
    expect(keeps.map(({ nodeId }) => nodeId)).toEqual(given.kept)
  })
})
