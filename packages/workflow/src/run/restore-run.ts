import type { RunStore, ToolCallLog, ToolCallRow } from '@smithers/tool-core'
import type { ZodType } from 'zod'
import type { LoopProgress } from '../schedule/build-plan.ts'
import { progressKey } from '../schedule/plan-node.ts'
import { checkValue } from '../values/check-value.ts'
import { FinishedOutputs } from '../define/finished-outputs.ts'
import type { OutputReference } from '../tree/output-reference.ts'
import { invalidWorkflow } from '../errors/invalid-workflow.ts'
import type { FinishedTaskResult } from './run-options.ts'

/** The progress of a run. */
export interface RunProgress {
  readonly outputs: FinishedOutputs
  readonly tasks: FinishedTaskResult[]
  /** Keys of finished tasks. */
  readonly finished: Set<string>
  /** Ids of finished tasks. */
  readonly finishedIds: Set<string>
  /** The number of the last attempt of each task. */
  readonly attempts: Map<string, number>
  readonly loops: Map<string, LoopProgress>
}

/**
 * Reads the progress of a run. Recorded outputs are parsed by the schemas again, so that the tree sees the same values
 * as the process that recorded them.
 *
 * @throws SmithersError `WORKFLOW_INVALID` when a schema has changed so that a recorded output no longer matches.
 */
export async function restoreRun(
  runs: RunStore,
  runId: string,
  schemas: ReadonlyMap<string, OutputReference>,
): Promise<RunProgress> {
  const progress: RunProgress = {
    outputs: new FinishedOutputs(),
    tasks: [],
    finished: new Set(),
    finishedIds: new Set(),
    attempts: new Map(),
    loops: new Map(),
  }
  for (const { loopId, iteration, finished } of await runs.loops(runId)) {
    progress.loops.set(loopId, { iteration, finished })
  }
  const rows = await runs.tasks(runId)
  for (const { nodeId, iteration, attempt } of rows) {
    progress.attempts.set(progressKey(nodeId, iteration), attempt)
  }
  const finished = rows
    .filter(({ status }) => status === 'finished')
    .toSorted((a, b) => (a.finishOrder ?? 0) - (b.finishOrder ?? 0))
  for (const { nodeId, iteration, taskId, outputName, outputJson, attempt } of finished) {
    const raw = JSON.parse(outputJson ?? 'null') as unknown
    const schema = outputName === null ? undefined : schemas.get(outputName)?.schema
    const value = schema === undefined ? raw : await recordedValue(schema, raw, taskId, outputName)
    finishTask(progress, { nodeId, iteration, id: taskId, name: outputName, value, attempt })
  }
  return progress
}

/** Counts the attempts in a log, so that the next one is warned of what they did. */
export async function addAttemptsOfLog(
  progress: RunProgress,
  log: ToolCallLog,
  runId: string,
): Promise<void> {
  let page = await log.list({ runId })
  while (page.length > 0) {
    for (const { nodeId, iteration, attempt } of page) {
      const key = progressKey(nodeId, iteration)
      progress.attempts.set(key, Math.max(attempt, progress.attempts.get(key) ?? 0))
    }
    page = await log.list({ runId, after: page.at(-1) as ToolCallRow })
  }
}

/** Adds a finished task; true when the last render read its output, so the tree must be rendered again. */
export function finishTask(
  progress: RunProgress,
  task: {
    readonly nodeId: string
    readonly iteration: number
    readonly id: string
    readonly name: string | null
    readonly value: unknown
    readonly attempt: number
  },
): boolean {
  const { nodeId, iteration, id, name, value, attempt } = task
  progress.finished.add(progressKey(nodeId, iteration))
  progress.finishedIds.add(id)
  progress.tasks.push({ id, iteration, attempt, output: value })
  return progress.outputs.add({ id, iteration, name, value })
}

async function recordedValue(
  schema: ZodType,
  raw: unknown,
  taskId: string,
  outputName: string | null,
): Promise<unknown> {
  const check = await checkValue(schema, raw)
  if (check.ok) return check.value
  throw invalidWorkflow(
    `The recorded output of task "${taskId}" no longer matches the schema "${outputName}": ${check.problem}. Restore the schema, or start a new run.`,
    { taskId, outputName },
  )
}
