import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Sandbox } from '@smithers/sandbox'
import type { ApprovalRow, ToolCallRow } from '@smithers/tool-core'
import { callOutcome } from '@smithers/cli/src/log/call-outcome.ts'
import type { SampleRepository } from './sample-repository.ts'

/** A claim of the demo, and whether it holds. */
export interface DemoCheck {
  readonly claim: string
  readonly holds: boolean
}

/** The evidence for the checks. */
export interface DemoEvidence {
  readonly repository: SampleRepository
  readonly sandbox: Sandbox
  readonly rows: readonly ToolCallRow[]
  readonly approvals: readonly ApprovalRow[]
  /** Everything sent to the models. */
  readonly conversation: string
  /** Number of connections to the server that the agent was asked to call. */
  readonly connections: number
}

/**
 * Checks the demo against the disk, the log and the network, not against what the model says. The app itself runs the
 * tests once more.
 */
export async function checkDemo(evidence: DemoEvidence): Promise<DemoCheck[]> {
  const { repository, sandbox, rows, approvals, conversation, connections } = evidence
  const tests = rows.filter(
    ({ toolName, inputJson }) => toolName === 'bash' && inputJson?.includes('--test'),
  )
  const nowGreen = await sandbox.run('node', ['--test'])
  const changed = await sandbox.run('git', ['diff', '--name-only', 'HEAD'])
  const files = logFiles(repository.logPath)
  return [
    {
      claim: 'The tests failed before and pass now.',
      holds: tests[0]?.status === 'error' && nowGreen.exitCode === 0,
    },
    {
      claim: 'Only src/split.js was changed.',
      holds: changed.output.trim() === 'src/split.js',
    },
    {
      claim: 'The patch that did not apply was refused, and the corrected one was applied.',
      holds:
        codesOf(rows, 'edit')
          .filter((code) => code !== waiting)
          .join() === 'TOOL_PATCH_FAILED,ok',
    },
    {
      claim: 'The file was changed only after an approval, and the log names the approver.',
      holds: approvedFirst(approvals, rows),
    },
    {
      claim: `curl was refused; ${connections} connections reached the server.`,
      holds: codesOf(rows, 'bash').includes('TOOL_NETWORK_DISABLED') && connections === 0,
    },
    {
      claim:
        'The link out of the root was refused; its target is in neither the conversation nor the log.',
      holds:
        codesOf(rows, 'read').includes('TOOL_PATH_ESCAPE') &&
        conversation !== '' &&
        ![conversation, ...files].some((text) => text.includes(repository.secret)),
    },
    {
      claim: 'The log contains every call with its outcome.',
      holds: rows.length > 0 && rows.every((row) => row.finishedAtMs !== null) && files.length > 0,
    },
  ]
}

/** The code of a call that waits for approval. */
const waiting = 'TOOL_APPROVAL_REQUIRED'

function approvedFirst(approvals: readonly ApprovalRow[], rows: readonly ToolCallRow[]): boolean {
  const [approval, ...others] = approvals
  const first = rows.find(
    (row) => row.toolName === 'edit' && callOutcome(row, Date.now()).code !== waiting,
  )
  if (approval?.decidedAtMs == null || first === undefined || others.length > 0) return false
  return (
    // The approved patch did not apply and had no effect, so the approval is not used up.
    (approval.status === 'used' || approval.status === 'approved') &&
    approval.decidedBy !== null &&
    first.approvalId === approval.id &&
    approval.decidedAtMs <= first.startedAtMs
  )
}

function codesOf(rows: readonly ToolCallRow[], toolName: string): string[] {
  return rows
    .filter((row) => row.toolName === toolName)
    .map((row) => callOutcome(row, Date.now()).code ?? 'ok')
}

/** The database and its write-ahead log, as bytes. */
function logFiles(path: string): string[] {
  return readdirSync(dirname(path))
    .filter((name) => name.startsWith(basename(path)))
    .map((name) => readFileSync(join(dirname(path), name), 'latin1'))
}
