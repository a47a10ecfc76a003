import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { jsonOutput } from '@smithers/cli'
import { createSqliteLog } from '@smithers/log-sqlite'
import { createToolRun, defineTool } from '@smithers/tool-core'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { failedWith, writeSampleLog } from './fixtures/sample-log.ts'
import { runSmithers } from './fixtures/smithers-process.ts'
import { temporaryFolder } from './fixtures/temporary-folder.ts'

/** The documents that a command printed, each as the schema has it. */
async function documents(...args: readonly string[]): Promise<Record<string, unknown>[]> {
  const { stdout } = await runSmithers([...args, '--json'], { cwd: temporaryFolder() })
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => {
      const document = JSON.parse(line) as Record<string, unknown>
      // Parsing drops what the schema does not know.
      expect(jsonOutput.parse(document)).toEqual(document)
      return document
    })
}

async function logWithPendingApproval(path: string): Promise<void> {
  const log = createSqliteLog({ path })
  const run = createToolRun({ runId: 'asks', log })
  const charge = defineTool({
    name: 'charge',
    schema: z.object({ cents: z.number() }),
    sideEffect: true,
    acceptsContext: true,
    needsApproval: true,
    approvalPrompt: 'Charge {{cents}}?',
    approvalPreview: ({ cents }) => `It charges ${cents} cents.`,
    execute: () => 'charged',
  })
  const { execute } = run.tools({ charge }).charge
  await expect(execute({ cents: 5 }, { toolCallId: 'c', messages: [] })).rejects.toMatchObject({
    code: 'TOOL_APPROVAL_REQUIRED',
  })
  await log.close()
}

describe('--json', () => {
  test('prints calls with their values, outputs and messages', async () => {
    const path = join(temporaryFolder(), 'calls.db')
    const key = '6f1d3b0a-0000-5000-8000-000000000001'
    await writeSampleLog(path, [
      { seq: 1, toolName: 'read', input: { path: 'a' }, idempotencyKey: key, finish: {} },
      { seq: 2, toolName: 'read', finish: failedWith('TOOL_FILE_NOT_FOUND', 'No such file.') },
      { seq: 1, toolName: 'read', attempt: 2, idempotencyKey: key },
    ])
    const [first, second, third] = await documents('calls', '--log', path)
    expect(first).toMatchObject({ type: 'call', input: { path: 'a' }, output: 'ok', code: null })
    expect(second).toMatchObject({
      output: null,
      code: 'TOOL_FILE_NOT_FOUND',
      message: 'No such file.',
      error: { code: 'TOOL_FILE_NOT_FOUND' },
    })
    expect(third).toMatchObject({ outcome: 'unknown', durationMs: null })
    const [shown] = await documents('show', '1', '--log', path)
    expect(shown).toMatchObject({ attempt: 2, earlierOfKey: [{ attempt: 1, output: 'ok' }] })
    expect(await documents('prune', '--max-calls', '1', '--log', path)).toMatchObject([
      { type: 'prune', kept: [] },
    ])
  })

  test('prints approvals, their decision and why a run waits', async () => {
    const path = join(temporaryFolder(), 'calls.db')
    await logWithPendingApproval(path)
    const [approval] = await documents('approvals', '--log', path)
    expect(approval).toMatchObject({
      type: 'approval',
      status: 'pending',
      input: { cents: 5 },
      preview: 'It charges 5 cents.',
    })
    const [why] = await documents('why', 'asks', '--log', path)
    expect(why).toMatchObject({ type: 'explanation', runId: 'asks', waits: [{}] })
    const [rejected] = await documents('reject', String(approval?.['id']), '--log', path)
    expect(rejected).toMatchObject({ type: 'approval', status: 'rejected' })
  })

  test('prints runs without the token of their lease', async () => {
    const path = join(temporaryFolder(), 'calls.db')
    const log = createSqliteLog({ path })
    await log.runs.claim({
      runId: 'r',
      inputJson: '{"file":"a"}',
      optionsJson: '{"rootDir":"/"}',
      ownerId: 'test',
      leaseToken: 'lease-token',
      leaseExpiresAtMs: 2_000,
      nowMs: 1_000,
    })
    await log.close()
    const [run] = await documents('runs', '--log', path)
    expect(run).toMatchObject({ type: 'run', input: { file: 'a' }, state: 'interrupted' })
    const [why] = await documents('why', 'r', '--log', path)
    expect(why).toMatchObject({ type: 'explanation', input: { file: 'a' } })
    expect(JSON.stringify([run, why])).not.toContain('lease-token')
  })

  test('prints what is enforced, and what came of a command', async () => {
    await documents('doctor')
    await documents('explain')
    const { stdout } = await runSmithers(['exec', '--json', '--', 'echo', 'out'], {
      cwd: temporaryFolder(),
    })
    const document = JSON.parse(stdout) as object
    expect(jsonOutput.parse(document)).toEqual(document)
    expect(document).toMatchObject({ type: 'exec', args: ['out'], stdout: 'out\n', exitCode: 0 })
  })

  test('is documented: every type with every field', () => {
    const page = readFileSync(
      new URL('../../../docs/command-line-json.md', import.meta.url),
      'utf8',
    )
    const { options } = jsonOutput as z.ZodDiscriminatedUnion<z.ZodObject[]>
    expect(options.length).toBeGreaterThan(8)
    for (const { shape } of options) {
      const { type, ...fields } = shape
      const { value } = type as z.ZodLiteral
      const [, section = ''] = page.split(`\n## \`${String(value)}\``)
      const [own = ''] = section.split('\n## ')
      for (const name of Object.keys(fields)) expect(own).toContain(`| \`${name}\` `)
    }
  })
})
