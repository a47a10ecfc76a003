import type { Command } from 'commander'
import {
  type ApprovalDecision,
  isHostApproval,
  isSmithersError,
  pendingApprovals,
  resolveToolApproval,
  type ToolCallLog,
} from '@smithers/tool-core'
import { forRun } from '../sandbox/network-flags.ts'
import { approvalDocument } from '../documents/documents.ts'
import { badInput } from '../errors/command-failure.ts'
import { logPathOf } from '../log/log-path.ts'
import { openExistingLog } from '../log/open-log.ts'
import { coloredPatch } from '../terminal/colored-patch.ts'
import { logArgument } from '../terminal/log-argument.ts'
import { printable } from '../terminal/printable.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { userName } from '../terminal/user-name.ts'
import { logOption } from './log-option.ts'

interface DecideOptions {
  readonly log?: string
  readonly run?: string
  readonly args?: string
  readonly forRun?: true
  readonly comment?: string
  readonly by: string
  readonly json?: true
}

/** Adds `smithers approvals`, `approve` and `reject`: decides about pending calls from any process. */
export function addApprovalCommands(program: Command, terminal: Terminal): void {
  program
    .command('approvals')
    .summary('list pending calls')
    .description('Lists the calls that wait for approval, oldest first, with their arguments.')
    .addOption(logOption())
    .option('--run <id>', 'only this run')
    .option('--json', 'print JSON Lines, one approval per line')
    .action((options: Pick<DecideOptions, 'log' | 'run' | 'json'>) => list(options, terminal))
  const decision = (name: 'approve' | 'reject'): Command =>
    program
      .command(name)
      .argument('<id>', 'the id of the approval, or of the call')
      .addOption(logOption())
      .option('--run <id>', 'the run, if calls of several runs have this id')
      .option(
        '--comment <text>',
        name === 'reject' ? 'the reason; the agent reads it' : 'the reason; kept with the approval',
      )
      .option('--by <name>', 'the name of the approver', userName())
      .option('--json', 'print one JSON document: the approval after the decision')
      .action((id: string, options: DecideOptions) =>
        decide(id, name === 'approve', options, terminal),
      )
  decision('approve')
    .summary('approve a pending call')
    .description(
      'Approves a call. It runs when the run goes on: a worker takes it up, or its program is started again with the same run id. A decision is final.',
    )
    .option('--args <json>', "the arguments to run with instead of the agent's")
    .option('--for-run', 'for a host: let every call of the run connect to it, not this call alone')
  decision('reject')
    .summary('reject a pending call')
    .description(
      'Rejects a call. The agent learns of it, and of the reason, when the run goes on. A decision is final.',
    )
}

async function list(
  { log: path, run, json }: Pick<DecideOptions, 'log' | 'run' | 'json'>,
  terminal: Terminal,
): Promise<void> {
  const log = await openExistingLog(logPathOf(path))
  try {
    const waiting = await pendingApprovals({ log, runId: run })
    const { colors } = terminal
    for (const approval of waiting) {
      if (json === true) {
        terminal.json(approvalDocument(approval))
        continue
      }
      const { id, runId, toolName, prompt, inputJson, previewJson, requestedAtMs } = approval
      const requested = new Date(requestedAtMs).toISOString()
      terminal.line(
        `${colors.bold(id)}  ${printable(toolName)}  ${colors.dim(`run ${printable(runId)}, requested ${requested}`)}`,
      )
      for (const text of [prompt, inputJson]) {
        if (text !== null) terminal.line(quoted(printable(text)))
      }
      const preview = previewText(previewJson)
      if (preview !== null) terminal.line(quoted(coloredPatch(preview, colors)))
    }
    if (waiting.length === 0) terminal.note('No call waits for approval.')
  } finally {
    await log.close()
  }
}

/** Every line with a bar before it, so that no line of an argument looks like another approval. */
function quoted(text: string): string {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => `  │ ${line}`)
    .join('\n')
}

/** What the call would do, as its tool said: a text, or a patch. */
function previewText(previewJson: string | null): string | null {
  if (previewJson === null) return null
  const preview = JSON.parse(previewJson) as unknown
  if (typeof preview === 'string') return preview
  const { patch } = preview as { readonly patch?: unknown }
  return typeof patch === 'string' ? patch : previewJson
}

async function decide(
  id: string,
  approved: boolean,
  options: DecideOptions,
  terminal: Terminal,
): Promise<void> {
  const decision: ApprovalDecision = {
    approved,
    decidedBy: options.by,
    comment: options.comment,
    ...(options.args === undefined ? {} : { approvedArgs: parsed(options.args) }),
    ...(options.forRun === true && { approvedArgs: forRun }),
  }
  const log = await openExistingLog(logPathOf(options.log))
  try {
    if (options.forRun === true) await assertHost(log, id, options)
    const approval = await resolveToolApproval({ log, id, runId: options.run, ...decision })
    if (options.json === true) return terminal.json(approvalDocument(approval))
    terminal.line(`${approval.id}  ${printable(approval.toolName)}  ${approval.status}`)
    terminal.note(`Resume run ${printable(approval.runId)} to continue.`)
  } catch (error) {
    if (isSmithersError(error) && error.code === 'TOOL_APPROVAL_NOT_FOUND') {
      throw badInput(
        `No approval has the id ${id}, and no call with that id requested one. "smithers approvals${logArgument(logPathOf(options.log))}" lists the pending ones.`,
        error,
      )
    }
    // The exit code distinguishes bad input from failures.
    if (isSmithersError(error) && inputCodes.has(error.code)) throw badInput(error.message, error)
    throw error
  } finally {
    await log.close()
  }
}

/** The arguments of a tool must not be replaced by what only a host has. */
async function assertHost(
  log: ToolCallLog,
  id: string,
  { args }: Pick<DecideOptions, 'args'>,
): Promise<void> {
  if (args !== undefined) throw badInput('Give either --args or --for-run.')
  const [approval] = (await log.approvals?.list({ id })) ?? []
  if (approval !== undefined && isHostApproval(approval)) return
  throw badInput(`--for-run is for approvals of hosts, by their own id. ${id} is none.`)
}

const inputCodes: ReadonlySet<string> = new Set([
  'INVALID_INPUT',
  'TOOL_APPROVAL_NOT_FOUND',
  'TOOL_APPROVAL_DECIDED',
])

function parsed(json: string): unknown {
  try {
    return JSON.parse(json) as unknown
  } catch (error) {
    throw badInput(`--args is not JSON: ${(error as Error).message}`, error)
  }
}
