import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Outcome, runSmithers } from './fixtures/smithers-process.ts'
import { temporaryFolder } from '../../../packages/cli/test/fixtures/temporary-folder.ts'

const workflow = `
import { createSmithers, defineTool } from '@smithers/orchestrator'
import { appendFileSync, existsSync } from 'node:fs'
import { z } from 'zod'

const { Workflow, Task, smithers } = createSmithers({
  input: z.object({ folder: z.string() }),
})
const call = { toolCallId: 'call', messages: [] }
const tool = (folder, name, options) =>
  defineTool({
    name,
    schema: z.object({ cents: z.number() }),
    sideEffect: true,
    idempotent: false,
    acceptsContext: true,
    ...options,
    execute: ({ cents }) => {
      appendFileSync(folder + '/' + name, cents + '\\n')
      return 'done'
    },
  })
const asking = { needsApproval: true, approvalPrompt: 'Pay {{cents}} cents?' }

export default smithers(({ input: { folder } }) => (
  <Workflow name="bill">
    <Task id="book">
      {async () => {
        await tool(folder, 'book', { onRetry: 'block' }).execute({ cents: 5 }, call)
        if (!existsSync(folder + '/network')) throw new Error('the network is down')
      }}
    </Task>
    <Task id="settle">
      {() =>
        tool(folder, 'pay', asking)
          .execute({ cents: 5 }, call)
          .catch((error) => {
            if (error.code === 'TOOL_APPROVAL_REQUIRED') throw error
            return error.message
          })
      }
    </Task>
  </Workflow>
))
`

function place() {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'bill.tsx'), workflow)
  const smithers = (...args: string[]): Promise<Outcome> => runSmithers(args, { cwd: folder })
  return {
    smithers,
    connect: () => writeFileSync(join(folder, 'network'), ''),
    up: () => smithers('up', 'bill.tsx', '--run', 'r1', '--input', JSON.stringify({ folder })),
    effects: (name: string) => {
      const path = join(folder, name)
      return existsSync(path) ? readFileSync(path, 'utf8') : ''
    },
  }
}

async function stateIn(smithers: (...args: string[]) => Promise<Outcome>): Promise<string> {
  const { stdout } = await smithers('runs', '--json')
  return (JSON.parse(stdout) as { state: string }).state
}

describe('a run that waits for an approval', () => {
  test('says what waits and how to decide, with an exit code of its own, and resumes once decided', async () => {
    const { smithers, connect, up, effects } = place()
    connect()
    const paused = await up()
    expect(paused.exitCode).toBe(3)
    const id = /apr_[\w-]+/.exec(paused.stdout)?.[0] ?? 'none'
    expect(paused.stdout).toContain(`waits  pay  "Pay 5 cents?"\n       smithers approve ${id}\n`)
    expect(paused.stdout).not.toMatch(/✗|Resume with/)
    expect(paused.stderr).toBe(
      'smithers: The run is paused: a call waits for approval. After the decision, resume with: smithers resume r1\n',
    )
    expect(await stateIn(smithers)).toBe('waiting')
    const why = JSON.parse((await smithers('why', 'r1', '--json')).stdout) as object
    expect(why).toMatchObject({
      runId: 'r1',
      state: 'waiting',
      waits: [{ approvalId: id, nodeId: 'settle', question: 'Pay 5 cents?' }],
      blocked: [],
      resume: 'smithers resume r1',
      text: expect.stringContaining(`"smithers approve ${id}" or "smithers reject ${id}"`),
    })

    expect((await smithers('reject', id, '--comment', 'Too much.')).exitCode).toBe(0)
    expect(await stateIn(smithers)).toBe('decided')
    const decided = await smithers('why', 'r1')
    expect(decided.stdout).toContain('Every pending call has been decided.')
    expect(decided.stdout).not.toContain(id)
    expect((await smithers('resume', 'r1')).exitCode).toBe(0)
    expect(effects('pay')).toBe('')
    expect(await stateIn(smithers)).toBe('finished')
  })

  test('is one JSON document a call with --json', async () => {
    const { smithers, connect, up } = place()
    connect()
    await up()
    const { exitCode, stdout } = await smithers('resume', 'r1', '--json')
    expect(exitCode).toBe(3)
    const last = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as object
    expect(last).toMatchObject({ type: 'waits', toolName: 'pay', question: 'Pay 5 cents?' })
  })
})

describe('smithers resume --allow', () => {
  test('lets the blocked call run that why names, and no key that no call has', async () => {
    const { smithers, up, effects, connect } = place()
    expect((await up()).exitCode).toBe(1)
    expect(effects('book')).toBe('5\n')
    const blocked = await smithers('resume', 'r1')
    expect([blocked.exitCode, effects('book')]).toEqual([1, '5\n'])

    const { stdout } = await smithers('why', 'r1')
    const command = /if the call must run, use "smithers (.*?)"/.exec(stdout)?.[1] ?? ''
    expect(command).toMatch(/^resume r1 --allow [\da-f-]{36}$/)
    const mistyped = await smithers(...`${command}0`.split(' '))
    expect([mistyped.exitCode, mistyped.stderr]).toEqual([
      2,
      expect.stringContaining('Run r1 has no call with the key'),
    ])
    expect(effects('book')).toBe('5\n')

    connect()
    // It runs, and then the next task waits for its approval.
    expect((await smithers(...command.split(' '))).exitCode).toBe(3)
    expect(effects('book')).toBe('5\n5\n')
    const json = JSON.parse((await smithers('why', 'r1', '--json')).stdout) as object
    expect(json).toMatchObject({ blocked: [] })
  })
})
