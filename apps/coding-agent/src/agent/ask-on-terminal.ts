import type { ApprovalDecision, ApprovalRequest, OnApproval } from '@smithers/tool-core'
import type { AlwaysApproved } from './always-approved.ts'
import { forRun } from '@smithers/cli/src/sandbox/network-flags.ts'
import { printable } from '@smithers/cli/src/terminal/printable.ts'
import type { Terminal } from '@smithers/cli/src/terminal/terminal.ts'
import { userName } from '@smithers/cli/src/terminal/user-name.ts'

/** True when a user at the terminal can answer questions. */
export function isInteractive({ stdout }: Terminal): boolean {
  return stdout.isTTY === true && process.stdin.isTTY
}

/**
 * Asks the user about each call, one at a time, even when several are made at once.
 *
 * @param hold Reserves the terminal until the returned function is called.
 */
export function askOnTerminal(terminal: Terminal, hold: () => () => void): OnApproval {
  let last: Promise<unknown> = Promise.resolve()
  let always: AlwaysApproved | undefined
  return (question) => {
    const answer = last.then(async () => {
      const release = hold()
      try {
        // Loaded on demand: most runs ask nothing.
        always ??= new (await import('./always-approved.ts')).AlwaysApproved()
        const decision = always.decisionOn(question, userName())
        if (decision === undefined) return await ask(question, terminal, always)
        const { prompt, toolName } = question.approval
        terminal.line(terminal.colors.dim(`approved: ${printable(prompt ?? toolName)}`))
        return decision
      } finally {
        release()
      }
    })
    last = answer.catch(() => {})
    return answer
  }
}

async function ask(
  { approval, args, problem, context }: ApprovalRequest,
  { line, colors }: Terminal,
  always: AlwaysApproved,
): Promise<ApprovalDecision | undefined> {
  // Loaded on demand: most runs ask nothing.
  const [{ isCancel, select, text }, { approvalText }, { isHostApproval }] = await Promise.all([
    import('@clack/prompts'),
    import('../terminal/approval-text.ts'),
    import('@smithers/tool-core'),
  ])
  const decidedBy = userName()
  // A run that has been stopped needs no answer.
  const signal = context.abortSignal
  if (signal.aborted) return undefined
  line(`\n${colors.bold(printable(approval.prompt ?? `Run ${approval.toolName}?`))}`)
  line(await approvalText(approval.toolName, args, context.rootDir, colors))
  if (problem !== undefined)
    line(colors.yellow(`Your arguments do not match: ${printable(problem)}`))
  const choice = await select({
    message: 'Approve this call?',
    signal,
    options: [
      { value: 'approve', label: 'Approve' },
      ...(isHostApproval(approval)
        ? [{ value: 'for-run', label: 'Approve this host for the whole run' }]
        : []),
      { value: 'reject', label: 'Reject', hint: 'the agent learns why' },
      { value: 'change', label: 'Approve with other arguments' },
      { value: 'later', label: 'Decide later', hint: 'the run pauses' },
      ...(isHostApproval(approval)
        ? []
        : [
            {
              value: 'tool',
              label: `Approve, and always for ${printable(approval.toolName)} in this run`,
            },
            { value: 'run', label: 'Approve, and always in this run', hint: 'but hosts' },
          ]),
    ],
  })
  if (isCancel(choice) || choice === 'later') return undefined
  if (choice === 'tool' || choice === 'run') always.add(approval, choice)
  if (choice === 'approve' || choice === 'tool' || choice === 'run')
    return { approved: true, decidedBy }
  if (choice === 'for-run') return { approved: true, decidedBy, approvedArgs: forRun }
  if (choice === 'reject') {
    const comment = await text({
      message: 'Why?',
      placeholder: 'The agent reads this.',
      signal,
    })
    return isCancel(comment)
      ? undefined
      : { approved: false, decidedBy, comment: comment || undefined }
  }
  return await otherArguments(args, decidedBy, signal)
}

async function otherArguments(
  args: unknown,
  decidedBy: string,
  signal: AbortSignal,
): Promise<ApprovalDecision | undefined> {
  const { isCancel, text } = await import('@clack/prompts')
  const json = await text({
    message: 'The arguments, as JSON',
    signal,
    initialValue: JSON.stringify(args),
    validate: (value) => (isJson(value ?? '') ? undefined : 'This is not JSON.'),
  })
  if (isCancel(json)) return undefined
  return { approved: true, decidedBy, approvedArgs: JSON.parse(json) as unknown }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
