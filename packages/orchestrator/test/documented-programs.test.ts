import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMemoryLog } from '@smithers/log-memory'
import { createToolContext, runWithToolContext } from '@smithers/tool-core'
import { runWorkflow } from '@smithers/orchestrator'
import { prompts, reply } from './fixtures/seeds/offline-anthropic.ts'
import { orders } from './fixtures/seeds/whole-foods.ts'

let project: string

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'smithers-seeds-'))
  mkdirSync(join(project, 'src'))
  writeFileSync(join(project, 'src/auth.ts'), 'if (token.expired()) {}\nvalidateToken(token)\n')
})

afterAll(() => rmSync(project, { recursive: true }))

describe('the documented programs', () => {
  test('compile as a user compiles them', () => {
    const { stdout } = spawnSync('tsc', ['-p', import.meta.dirname], { encoding: 'utf8' })
    expect(stdout.split('\n').filter((line) => line.includes('orchestrator/test/'))).toEqual([])
  })

  test('S0: one import brings every name of the page', async () => {
    const { defineTool, getDefinedToolMetadata, tools, ...each } =
      await import('./fixtures/seeds/s0-import.ts')
    expect([typeof defineTool, typeof getDefinedToolMetadata]).toEqual(['function', 'function'])
    expect({ ...tools }).toEqual(each)
  })

  test('defineTool: the order carries the key of the call, and the same one in a second attempt', async () => {
    const { placeOrder } = await import('./fixtures/seeds/s0-define-tool.ts')
    const log = createMemoryLog()
    for (const attempt of [1, 2]) {
      const context = createToolContext({ runId: 'run-1', nodeId: 'shop', attempt, log })
      await runWithToolContext(context, () =>
        placeOrder.execute({ sku: 'apple' }, { toolCallId: `call-${attempt}`, messages: [] }),
      )
    }
    expect(orders.map(({ sku }) => sku)).toEqual(['apple', 'apple'])
    expect(orders[0]?.idempotencyKey).toMatch(/^[0-9a-f-]{36}$/)
    expect(orders[1]?.idempotencyKey).toBe(orders[0]?.idempotencyKey)
  })

  test('getDefinedToolMetadata: write is a side effect and not idempotent', async () => {
    const { metadata } = await import('./fixtures/seeds/s0-metadata.ts')
    expect(metadata).toEqual({ name: 'write', sideEffect: true, idempotent: false })
  })

  test('Built-in tools: the bundle holds exactly the five tools', async () => {
    const { tools, read, write, edit, bash, grep } = await import('./fixtures/seeds/s0-bundle.ts')
    expect({ ...tools }).toEqual({ read, write, edit, bash, grep })
  })

  test('Built-in tools: the workflow lets the agent read and returns its summary', async () => {
    const { default: workflow } = await import('./fixtures/seeds/s0-workflow.tsx')
    reply({ tool: 'read', input: { path: 'src/auth.ts' } }, '{"summary":"renamed one function"}')
    const log = createMemoryLog()
    const { runId, outputs } = await runWorkflow(workflow, {
      input: { file: 'src/auth.ts' },
      rootDir: project,
      log,
    })
    expect(outputs.result).toEqual({ summary: 'renamed one function' })
    expect(textOf(prompts[0])).toContain('Refactor src/auth.ts for readability and run the tests.')
    expect(textOf(prompts[1])).toContain('validateToken(token)')
    expect(log.list({ runId })).toMatchObject([
      { toolName: 'read', nodeId: 'refactor', iteration: 0, attempt: 1, seq: 1, status: 'success' },
    ])
  })

  test('Import: the tools come from a path of their own', async () => {
    const { tools, destructured, ...each } = await import('./fixtures/seeds/s2-import.ts')
    expect({ ...tools }).toEqual(each)
    expect(destructured()).toEqual(each)
  })

  test('read: the review names its output by a word', async () => {
    const { default: workflow } = await import('./fixtures/seeds/s2-read.tsx')
    reply(
      { tool: 'grep', input: { pattern: 'expired', path: 'src/auth.ts' } },
      'I found this:\n```json\n{"issues":["the token is not checked"]}\n```',
    )
    const { outputs } = await runWorkflow(workflow, { rootDir: project })
    expect(outputs.review).toEqual({ issues: ['the token is not checked'] })
    expect(textOf(prompts[0])).toContain(
      'Read the file src/auth.ts and identify any security vulnerabilities.',
    )
    expect(textOf(prompts[1])).toContain('src/auth.ts:1:if (token.expired()) {}')
  })

  test('write: the agent writes a file beneath the root', async () => {
    const { writerAgent } = await import('./fixtures/seeds/s2-write.ts')
    reply({ tool: 'write', input: { path: 'docs/new.md', content: '# New' } }, 'written')
    await generateIn(project, writerAgent)
    expect(readFileSync(join(project, 'docs/new.md'), 'utf8')).toBe('# New')
  })

  test('bash: the task runs a command in the root', async () => {
    const { default: workflow } = await import('./fixtures/seeds/s2-bash.tsx')
    reply({ tool: 'bash', input: { cmd: 'ls', args: ['src'] } }, '{"problems":0}')
    const { outputs } = await runWorkflow(workflow, { rootDir: project })
    expect(outputs.lint).toEqual({ problems: 0 })
    expect(textOf(prompts[1])).toContain('auth.ts')
  })

  test('Using Tools with Agents: the workflow with five tools runs', async () => {
    const { default: workflow } = await import('./fixtures/seeds/s2-agents.tsx')
    reply('{"summary":"nothing to do"}')
    const { outputs } = await runWorkflow(workflow, {
      input: { file: 'src/auth.ts' },
      rootDir: project,
    })
    expect(outputs.result).toEqual({ summary: 'nothing to do' })
    expect(textOf(prompts[0])).toContain('You are a senior engineer.')
  })

  test('Using Tools with Agents: the whole bundle is a set of tools', async () => {
    const { fullAgent } = await import('./fixtures/seeds/s2-bundle.ts')
    reply({ tool: 'read', input: { path: 'src/auth.ts' } }, 'read it')
    const { text } = await generateIn(project, fullAgent)
    expect(text).toBe('read it')
  })

  test('Configuration: runWorkflow takes the four options', async () => {
    process.env['SEED_PROJECT_DIR'] = project
    reply('{"summary":"configured"}')
    const { result } = await import('./fixtures/seeds/s2-configuration.ts')
    expect(result.outputs.result).toEqual({ summary: 'configured' })
  })
})

describe('runWorkflow', () => {
  test('lets a run of a documented program be asked for again without running it again', async () => {
    const { default: workflow } = await import('./fixtures/seeds/s0-workflow.tsx')
    const log = createMemoryLog()
    reply('{"summary":"once"}', '{"summary":"twice"}')
    const input = { file: 'src/auth.ts' }
    await runWorkflow(workflow, { input, runId: 'run-1', rootDir: project, log })
    const again = await runWorkflow(workflow, { runId: 'run-1', log })
    expect(again.outputs.result).toEqual({ summary: 'once' })
    expect(prompts).toHaveLength(1)
  })
})

function generateIn(
  rootDir: string,
  agent: { generate(options: { prompt: string }): PromiseLike<{ text: string }> },
): PromiseLike<{ text: string }> {
  return runWithToolContext(createToolContext({ rootDir }), () => agent.generate({ prompt: 'Go.' }))
}

/** Everything that a model was sent, as text. */
function textOf(prompt: (typeof prompts)[number] | undefined): string {
  return (prompt ?? [])
    .flatMap(({ content }): readonly (string | object)[] =>
      typeof content === 'string' ? [content] : content,
    )
    .map((part) => (typeof part === 'string' ? part : textOfPart(part)))
    .join('\n')
}

function textOfPart(part: object): string {
  const { text, output } = part as { text?: string; output?: { value?: unknown } }
  return text ?? String(output?.value)
}
