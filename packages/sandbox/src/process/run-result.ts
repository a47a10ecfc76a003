import type { SandboxError } from '../errors/sandbox-error.ts'
import { ruleHint } from '../path-rules/rule-hint.ts'
import type { Violation } from '../path-rules/violation.ts'
import type { IsolatedCommand } from './isolate.ts'
import { OutputBuffer } from './output/output-buffer.ts'
import { refusalHint } from './refusal-hint.ts'
import { aborted, isolationLost, neverStarted, spawnFailed, timedOut } from './run-errors.ts'
import type { RunEnforcement, RunResult } from './run-types.ts'
import type { CommandCall } from './command-call.ts'
import type { CommandOutcome } from './supervise.ts'
import { channel } from 'node:diagnostics_channel'

/** The result of a command that was not started, but for the reason. */
export const nothingRun: Omit<RunResult, 'status' | 'enforced'> = Object.freeze({
  ...new OutputBuffer(1).capture(),
  exitCode: null,
  signal: null,
  durationMs: 0,
  violations: [],
})

/** What path rules did to a command. */
export interface RuleEffects {
  readonly changes: readonly Violation[]
  /** Names that were mounted read-only. */
  readonly mounted: readonly string[]
  /** Names that were hidden. */
  readonly denied: readonly string[]
}

/**
 * Describes how a command ended.
 *
 * @throws what the caller's own callback or input threw
 */
export function resultOf(
  call: CommandCall,
  enforced: RunEnforcement,
  isolated: IsolatedCommand,
  rules: RuleEffects,
): RunResult {
  const { outcome, failure, violations, network } = isolated
  if (outcome.terminated === 'caller-failed') throw outcome.callerError
  const { end, terminated: _reason, callerError: _thrown, ...captured } = outcome
  const exit = end.kind === 'exited' ? end : { code: null, signal: null }
  const [status, error] =
    failure === null
      ? statusOf(outcome, call)
      : (['spawn-error', neverStarted(call.argv[0], failure)] as const)
  const hint = exit.code === 0 ? undefined : hintFor(captured.output, enforced, isolated, rules)
  return {
    ...captured,
    exitCode: exit.code,
    signal: exit.signal,
    status,
    enforced,
    ...(outcome.terminated === undefined && 'leftBehind' in end && end.leftBehind !== undefined
      ? { leftBehind: end.leftBehind }
      : {}),
    violations: [...rules.changes, ...violations, ...(network?.violations ?? [])],
    ...(network === undefined ? {} : { network: network.use }),
    ...(hint === undefined ? {} : { hint }),
    ...(error === undefined ? {} : { error }),
  }
}

function hintFor(
  output: string,
  { files, syscalls, network: enforced }: RunEnforcement,
  { violations, refusals, network }: IsolatedCommand,
  { mounted, denied }: RuleEffects,
): string | undefined {
  const byRule =
    files === 'enforced'
      ? ruleHint(output, { mounted, denied, rootDir: refusals.rootDir })
      : undefined
  if (byRule !== undefined) return byRule
  // Most clients hide what the proxy answers.
  const [blocked] = network?.violations ?? []
  if (blocked !== undefined) return blocked.message
  const isFiltered = syscalls === 'enforced'
  const isOffline = enforced === 'enforced' && network === undefined
  return refusalHint({ ...refusals, output, violations, isFiltered, isOffline })
}

function statusOf(
  { end, terminated }: CommandOutcome,
  { argv: [command, ...args], limits, options }: CommandCall,
): [RunResult['status'], SandboxError?] {
  if (end.kind === 'not-started') {
    const { error, why } = end
    const failure =
      why === undefined ? spawnFailed(command, args, error) : neverStarted(command, why)
    return ['spawn-error', failure]
  }
  if (terminated === 'timeout') return ['timeout', timedOut(command, limits.timeoutMs)]
  if (terminated === 'aborted') return ['aborted', aborted(command, options.signal, 'unknown')]
  if (end.kind === 'lost') return ['killed', isolationLost(command, end.why)]
  return [end.signal === null ? 'exited' : 'killed']
}

/** What the channel `smithers:sandbox-violation` of `node:diagnostics_channel` carries. */
export interface ViolationEvent {
  readonly rootDir: string
  readonly command: string
  readonly violation: Violation
}

const violationChannel = channel('smithers:sandbox-violation')

/** Publishes each violation of one command as an event of its own. */
export function publishViolations(
  violations: readonly Violation[],
  command: { readonly rootDir: string; readonly command: string },
): void {
  if (!violationChannel.hasSubscribers) return
  for (const violation of violations) {
    violationChannel.publish({ ...command, violation } satisfies ViolationEvent)
  }
}
