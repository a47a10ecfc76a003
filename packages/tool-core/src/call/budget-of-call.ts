import type { ModelBudget } from '../contract/model-budget.ts'
import type { ToolDefinition } from '../contract/tool-definition.ts'
import type { AttemptJournal } from '../journal/attempt-journal.ts'
import type { RunStateStore } from '../log/run-state-store.ts'

/**
 * The store that keeps the whole of an output which the run cuts to `maxInlineOutputBytes`; undefined where the run leaves
 * outputs of the tool as they are.
 */
export function archiveOf(
  { archivesOutput, logOutput, streams }: ToolDefinition,
  { log, policy }: AttemptJournal,
): RunStateStore | undefined {
  if (policy.maxInlineOutputBytes === undefined || !archivesOutput) return undefined
  // What the log may not see whole is not kept whole either; what a stream has shown cannot be taken back.
  if (logOutput !== undefined || streams) return undefined
  return log.capabilities.state === true ? log.state : undefined
}

/** What a model reads of an output at most, for a tool with a budget. */
export function budgetOfOutput(
  definition: ToolDefinition,
  journal: AttemptJournal | undefined,
): ModelBudget | undefined {
  const { modelBudget } = definition
  const maxBytes = journal?.policy.maxInlineOutputBytes
  if (modelBudget === undefined || journal === undefined || maxBytes === undefined) {
    return modelBudget
  }
  if (archiveOf(definition, journal) === undefined) return smaller(modelBudget, maxBytes)
  // The run has cut the output, unless its log failed.
  return { maxBytes: Math.max(maxBytes, modelBudget.maxBytes ?? 0) }
}

/** What a model reads of the message of an error at most. */
export function budgetOfError(
  { archivesOutput, modelBudget }: ToolDefinition,
  { policy: { maxInlineOutputBytes: maxBytes } }: AttemptJournal,
): ModelBudget | undefined {
  if (maxBytes === undefined) return modelBudget
  if (archivesOutput) return { maxBytes }
  return modelBudget && smaller(modelBudget, maxBytes)
}

function smaller(budget: ModelBudget, maxBytes: number): ModelBudget {
  return { ...budget, maxBytes: Math.min(maxBytes, budget.maxBytes ?? Infinity) }
}
