import { writeFileSync } from 'node:fs'
import { createSqliteLog } from '@smithers/log-sqlite'
import { createSandbox } from '@smithers/sandbox'
import type { ApprovalRow, ToolCallRow } from '@smithers/tool-core'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { checkDemo } from '../../src/demo/demo-checks.ts'
import type { DemoCheck, DemoEvidence } from '../../src/demo/demo-checks.ts'
import { createSampleRepository } from '../../src/demo/sample-repository.ts'
import { failedWith, writeSampleLog } from '../../../../packages/cli/test/fixtures/sample-log.ts'
import { temporaryFolder } from '../../../../packages/cli/test/fixtures/temporary-folder.ts'

/** The evidence of a demo in which all went well, except that nothing was repaired. */
async function unrepaired(): Promise<DemoEvidence> {
  vi.stubEnv('TMPDIR', temporaryFolder())
  onTestFinished(() => void vi.unstubAllEnvs())
  const repository = createSampleRepository()
  const sandbox = await createSandbox({ rootDir: repository.rootDir, warn() {} })
  onTestFinished(() => sandbox.close())
  await writeSampleLog(repository.logPath, [
    {
      seq: 1,
      toolName: 'bash',
      input: { cmd: 'node', args: ['--test'] },
      finish: failedWith('TOOL_COMMAND_FAILED'),
    },
    { seq: 2, toolName: 'edit', finish: failedWith('TOOL_APPROVAL_REQUIRED') },
    {
      seq: 2,
      toolName: 'edit',
      attempt: 2,
      approvalId: 'apr_1',
      finish: failedWith('TOOL_PATCH_FAILED'),
    },
    { seq: 3, toolName: 'edit', finish: {} },
    { seq: 4, toolName: 'bash', finish: failedWith('TOOL_NETWORK_DISABLED') },
    { seq: 5, toolName: 'read', finish: failedWith('TOOL_PATH_ESCAPE') },
  ])
  const log = createSqliteLog({ path: repository.logPath })
  const rows = await log.list({})
  await log.close()
  const approved = rows.find(({ toolName, attempt }) => toolName === 'edit' && attempt === 2)
  const approvals = [approvalOf(approved)]
  return { repository, sandbox, rows, approvals, conversation: 'Find the bug.', connections: 0 }
}

/** Asked and granted just before the call that it is for. */
function approvalOf(row: ToolCallRow | undefined): ApprovalRow {
  if (row === undefined) throw new Error('the sample log has no edit')
  const { runId, nodeId, iteration, attempt, toolName, startedAtMs } = row
  return {
    id: 'apr_1',
    runId,
    nodeId,
    iteration,
    attempt,
    toolName,
    toolCallId: 'call-2',
    callKey: 'key',
    inputHash: 'hash',
    idempotencyKey: null,
    inputJson: null,
    inputSchemaJson: null,
    prompt: null,
    defaultsJson: null,
    previewJson: null,
    status: 'used',
    requestedAtMs: startedAtMs - 2,
    expiresAtMs: null,
    decidedAtMs: startedAtMs - 1,
    decidedBy: 'somebody',
    comment: null,
    approvedArgsJson: null,
  }
}

function broken(checks: readonly DemoCheck[]): string[] {
  return checks.filter(({ holds }) => !holds).map(({ claim }) => claim)
}

describe('checkDemo', () => {
  test('runs the tests itself: an agent that only says so is not believed', async () => {
    expect(broken(await checkDemo(await unrepaired()))).toEqual([
      'The tests failed before and pass now.',
      'Only src/split.js was changed.',
    ])
  })

  test('sees that an agent made the tests green by changing them', async () => {
    const evidence = await unrepaired()
    writeFileSync(`${evidence.repository.rootDir}/test/split.test.js`, '')
    expect(broken(await checkDemo(evidence))).toEqual(['Only src/split.js was changed.'])
  })

  test('sees a file that was changed before its approval', async () => {
    const evidence = await unrepaired()
    const [approval] = evidence.approvals
    const late = evidence.approvals.map((each) => ({
      ...each,
      decidedAtMs: (approval?.decidedAtMs ?? 0) + 1000,
    }))
    for (const approvals of [[], late]) {
      expect(broken(await checkDemo({ ...evidence, approvals }))).toContain(
        'The file was changed only after an approval, and the log names the approver.',
      )
    }
  })

  test('sees a call that ran with another approval', async () => {
    const evidence = await unrepaired()
    const approvals = evidence.approvals.map((each) => ({ ...each, id: 'apr_2' }))
    expect(broken(await checkDemo({ ...evidence, approvals }))).toContain(
      'The file was changed only after an approval, and the log names the approver.',
    )
  })

  test('sees a connection that was made', async () => {
    const checks = await checkDemo({ ...(await unrepaired()), connections: 1 })
    expect(broken(checks)).toContain('curl was refused; 1 connections reached the server.')
  })

  test('sees that what the link leads to reached the model', async () => {
    const evidence = await unrepaired()
    const checks = await checkDemo({
      ...evidence,
      conversation: `… ${evidence.repository.secret} …`,
    })
    expect(broken(checks).join()).toContain('The link out of the root was refused')
  })

  test('notices that the conversation was not kept', async () => {
    const checks = await checkDemo({ ...(await unrepaired()), conversation: '' })
    expect(broken(checks).join()).toContain('The link out of the root was refused')
  })

  test('sees that what the link leads to reached the log', async () => {
    const evidence = await unrepaired()
    await writeSampleLog(evidence.repository.logPath, [
      {
        seq: 9,
        runId: 'other',
        callToken: 'other',
        toolName: 'read',
        finish: { outputJson: JSON.stringify(evidence.repository.secret) },
      },
    ])
    expect(broken(await checkDemo(evidence)).join()).toContain(
      'The link out of the root was refused',
    )
  })

  test('sees a call without an outcome', async () => {
    const evidence = await unrepaired()
    const rows = evidence.rows.map((row) => ({ ...row, finishedAtMs: null }))
    expect(broken(await checkDemo({ ...evidence, rows })).join()).toContain('with its outcome')
  })
})
