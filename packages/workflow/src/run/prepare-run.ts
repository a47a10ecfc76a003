import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { SmithersError, type ToolCallLog, type ToolRunOptions } from '@smithers/tool-core'
import { boundedLog } from '@smithers/tool-core/log'
import type { RunRow, RunStore } from '@smithers/tool-core/log'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { isWorkflow, type WorkflowDefinition } from '../define/workflow-definition.ts'
import { toleratingListener } from '../events/tolerating-listener.ts'
import type { WorkflowEvent } from '../events/workflow-event.ts'
import { allowedKeys } from '../task/allowed-keys.ts'
import { checkedContext } from '../task/checked-context.ts'
import { networkOfRun, recordedNetwork } from './network-of-run.ts'
import { assertSameProgram, programOf } from './program-files.ts'
import { assertSameInput, givenInput, parseInput } from './run-input.ts'
import {
  assertWorkflowOptions,
  mergeOptions,
  optionsForTools,
  type RecordedOptions,
  type RunWorkflowOptions,
} from './run-options.ts'

/** A run whose options and input have been checked. Nothing has been recorded yet. */
export interface PreparedRun {
  readonly workflow: WorkflowDefinition
  readonly runId: string
  /** The caller chose the id, so the log may know the run. */
  readonly isNamed: boolean
  readonly log: ToolCallLog
  readonly runs: RunStore
  /** The run as recorded earlier; undefined for a new one. */
  readonly recorded: RunRow | undefined
  /** False for a new run, and for one that was queued and has not been worked on. */
  readonly hasBegun: boolean
  /** The input, to be recorded; null when it is not plain JSON. */
  readonly inputJson: string | null
  /** Why the input cannot be recorded. */
  readonly inputError: SmithersError | null
  /** The options that a resume inherits. */
  readonly optionsJson: string
  readonly leaseMs: number
  readonly toolOptions: ToolRunOptions
  readonly allow: readonly string[]
  readonly backoffMs: number
  readonly signal: AbortSignal | undefined
  readonly emit: (event: WorkflowEvent) => void
}

/** Options of a run whose log is open. */
export type LoggedRunOptions = RunWorkflowOptions & { readonly log: ToolCallLog }

/**
 * Refuses what is no workflow, and options that runs do not have.
 *
 * @throws SmithersError `INVALID_INPUT`
 */
export function assertRunnable(workflow: WorkflowDefinition, options: RunWorkflowOptions): void {
  if (!isWorkflow(workflow)) {
    throw new SmithersError(
      'INVALID_INPUT',
      'runWorkflow needs a workflow: the value that smithers(…) returns.',
    )
  }
  assertWorkflowOptions(options)
}

/** The folder of the file that defines the workflow; the current one when it is not defined in a file of this machine. */
export function folderOf({ file }: WorkflowDefinition): string {
  const folder = file === null ? null : dirname(file)
  // A source map names the folders of the machine that built the program.
  return folder !== null && existsSync(folder) ? folder : process.cwd()
}

/**
 * Checks everything that a resume could not repair, so that wrong options and input begin no run.
 *
 * @throws SmithersError `INVALID_INPUT`; `WORKFLOW_CHANGED` for another program than the run began with.
 */
export async function prepareRun(
  workflow: WorkflowDefinition,
  options: LoggedRunOptions,
): Promise<PreparedRun> {
  const { input, runId = crypto.randomUUID(), log, signal } = options
  const { runs = createMemoryLog().runs } = boundedLog(log, options.logTimeoutMs ?? 30_000)
  const [recorded] = await runs.list({ runId })
  const earlier = (
    recorded === undefined ? {} : JSON.parse(recorded.optionsJson)
  ) as RecordedOptions
  // The process that begins a run records its options, the root at least.
  const hasBegun = earlier.rootDir !== undefined
  const program = programOf(workflow, options.program)
  const merged = { ...mergeOptions(options, { rootDir: folderOf(workflow), ...earlier }), program }
  const network = networkOfRun({
    runId,
    given: options,
    recorded: !hasBegun || recorded?.status === 'finished' ? undefined : earlier,
    acceptWiderNetwork: options.acceptWiderNetwork === true,
  })
  const protectedPaths = [...(options.protectedPaths ?? []), ...Object.keys(program)]
  const toolOptions = {
    ...optionsForTools({ ...options, ...merged, ...network }),
    protectedPaths,
    log,
  }
  const { rootDir } = checkedContext({ ...toolOptions, runId })
  if (recorded?.status !== 'finished' && options.acceptChangedWorkflow !== true) {
    assertSameProgram(runId, earlier.program, program)
  }
  assertSameInput(input, recorded)
  const given = givenInput(input)
  const recordedJson = recorded?.inputJson ?? null
  const firstJson = recordedJson ?? given.json
  if ((recordedJson === null || !hasBegun) && firstJson !== null) {
    await parseInput(workflow, JSON.parse(firstJson))
  }
  return {
    workflow,
    runId,
    isNamed: options.runId !== undefined,
    log,
    runs,
    recorded,
    hasBegun,
    inputJson: given.json,
    inputError: given.error,
    optionsJson: JSON.stringify({ ...merged, ...recordedNetwork(network), rootDir }),
    leaseMs: options.leaseMs ?? 60_000,
    toolOptions: { ...toolOptions, rootDir },
    allow: allowedKeys(options.allow),
    backoffMs: options.backoffMs ?? 1000,
    signal,
    emit: toleratingListener(options.onEvent),
  }
}
