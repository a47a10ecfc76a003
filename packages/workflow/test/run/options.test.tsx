import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createBuiltinTools } from '@smithers/builtin-tools'
import { createMemoryLog } from '@smithers/log-memory'
import { defineTool, type ToolContext } from '@smithers/tool-core'
import { createSmithers, runWorkflow } from '@smithers/workflow'
import { scriptedAgent } from '../fixtures/scripted-agent.ts'

let rootDir: string

beforeAll(() => {
  rootDir = realpathSync(mkdtempSync(join(tmpdir(), 'smithers-options-')))
  mkdirSync(join(rootDir, 'src'))
  writeFileSync(join(rootDir, 'src/long.txt'), 'x'.repeat(3000))
  writeFileSync(join(rootDir, 'src/short.txt'), 'short')
})

afterAll(() => rmSync(rootDir, { recursive: true }))

const { Workflow, Task, Parallel, Loop, smithers } = createSmithers({
  answer: z.object({ done: z.boolean() }),
})

/** A tool that tells what it was given. */
function lookTool(seen: ToolContext[]) {
  return defineTool({
    name: 'look',
    schema: z.object({}),
    execute: async (_args, ctx) => {
      seen.push(ctx)
      return 'looked'
    },
  })
}

const look = { tool: 'look', input: {} } as const

describe('runWorkflow', () => {
  test('gives its options to the tools of every task, attempt, iteration and repair turn', async () => {
    const seen: ToolContext[] = []
    const looking = lookTool(seen)
    const agentOf = (...replies: Parameters<typeof scriptedAgent>[1]) =>
      scriptedAgent({ look: looking }, replies).agent
    const failing = agentOf(look, () => Promise.reject(new Error('down')), look, '{"done":true}')
    const mending = agentOf(look, 'no', look, '{"done":1}', look, '{"done":true}')
    const looping = agentOf(look, '{"done":false}', look, '{"done":true}')
    const workflow = smithers((ctx) => (
      <Workflow name="options">
        <Parallel>
          <Task id="failing" output="answer" agent={failing} retries={1}>
            Go.
          </Task>
          <Task id="mending" output="answer" agent={mending} repairs={2}>
            Go.
          </Task>
        </Parallel>
        <Loop until={ctx.iteration === 1}>
          <Task id="looping" output="answer" agent={looping}>
            Go.
          </Task>
        </Loop>
        <Task id="computed">
          {async () => {
            await looking.execute({}, { toolCallId: 'by-hand', messages: [] })
          }}
        </Task>
      </Workflow>
    ))
    const snapshots: string[] = []
    const options = { rootDir, allowNetwork: true, maxOutputBytes: 500 }
    await runWorkflow(workflow, {
      ...options,
      toolTimeoutMs: 2500,
      isolation: 'none',
      backoffMs: 1,
      runId: 'run-1',
      durabilitySnapshot: (name) => snapshots.push(name),
    })
    const places = seen.map(
      ({ nodeId, iteration, attempt, seq }) => `${nodeId} ${iteration} ${attempt} ${seq}`,
    )
    expect(places.toSorted()).toEqual([
      'computed 0 1 1',
      'failing 0 1 1',
      'failing 0 2 1',
      'looping 0 1 1',
      'looping 1 1 1',
      'mending 0 1 1',
      'mending 0 1 2',
      'mending 0 1 3',
    ])
    for (const context of seen) {
      expect(context).toMatchObject({
        ...options,
        runId: 'run-1',
        timeoutMs: 2500,
        isolation: 'none',
      })
    }
    // Looking has no side effect, so nothing was to be snapshotted.
    expect(snapshots).toEqual([])
  })

  test('is obeyed by the built-in tools: the root, the limit and the closed network', async () => {
    const log = createMemoryLog()
    const { agent, prompts } = scriptedAgent(createBuiltinTools({ warn() {} }), [
      { tool: 'read', input: { path: 'src/short.txt' } },
      { tool: 'read', input: { path: 'src/long.txt' } },
      { tool: 'read', input: { path: '../../etc/passwd' } },
      { tool: 'bash', input: { cmd: 'curl', args: ['http://127.0.0.1:1'] } },
      'not JSON',
      { tool: 'read', input: { path: 'src/long.txt' } },
      '{"done":true}',
    ])
    const workflow = smithers(() => (
      <Workflow name="obeyed">
        <Task id="read" output="answer" agent={agent}>
          Read.
        </Task>
      </Workflow>
    ))
    await runWorkflow(workflow, { rootDir, maxOutputBytes: 2000, runId: 'run-1', log })
    expect(prompts[1]).toContain('short')
    const codes = log
      .list({ runId: 'run-1' })
      .map(({ errorJson }) =>
        errorJson === null ? 'ok' : (JSON.parse(errorJson) as { code: string }).code,
      )
    expect(codes).toEqual([
      'ok',
      'TOOL_FILE_TOO_LARGE',
      'TOOL_PATH_ESCAPE',
      'TOOL_NETWORK_DISABLED',
      'TOOL_FILE_TOO_LARGE',
    ])
  })
})
