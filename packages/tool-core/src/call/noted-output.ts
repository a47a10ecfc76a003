import { chain, type MaybePromise } from '../async/maybe-promise.ts'
import { getToolContext } from '../context/ambient-context.ts'
import { boundContext } from '../contract/tool-call-options.ts'
import { noteOfArguments, noteOfCopy } from '../history/repetition-notes.ts'
import { journalOf } from '../journal/attempt-journal.ts'
import type { ToolDefinition } from '../contract/tool-definition.ts'
import { recordJson } from '../json/recorded-json.ts'
import { compileRedaction } from '../json/redaction.ts'
import type { CallScope } from './call-scope.ts'
import { budgetOfOutput } from './budget-of-call.ts'
import { fitBudget } from './fit-budget.ts'
import { adviceAtCut, readerOfRest } from './reader-of-rest.ts'

/** Lets AI SDK 6 and 7 find the note of a call that has begun. */
export function noteArguments({ history, options }: CallScope, given: unknown): void {
  history.notes.attachToArguments(options.toolCallId, given)
}

/** Lets AI SDK 5 find the note of a call that has an output. */
export function noted(call: CallScope, output: unknown): unknown {
  const { definition, history, options, task } = call
  const { toolCallId } = options
  const isBound = options[boundContext] !== undefined || getToolContext() === task
  // AI SDK 7 gives every call a context of its own, and says whose output the model is shown.
  const isKnown = isBound || options.context !== undefined
  const named = { toolCallId, toolName: definition.metadata.name }
  return history.notes.attach(named, output, isKnown)
}

/** What the AI SDK makes of an output for the model, in the forms that matter here. */
type ModelOutput =
  | { readonly type: 'text' | 'error-text'; readonly value: string }
  | { readonly type: 'json' | 'error-json'; readonly value: unknown }
  | { readonly type: 'content'; readonly value: readonly unknown[] }
  | { readonly type: string; readonly value?: unknown }

/** AI SDK 6 and 7 hand over an object, 5 the output alone. */
interface ModelOutputOptions {
  readonly toolCallId: string
  readonly input: unknown
  readonly output: unknown
}

export type ToModelOutput = (given: unknown) => MaybePromise<ModelOutput>

/**
 * Makes the `toModelOutput` of a defined tool: the tool's own, or what the AI SDK does without one, within the tool's
 * budget and with the note of a repeated call in front. The output itself stays what the tool returned.
 */
export function shownToModel(
  definition: ToolDefinition,
  own: ToModelOutput | undefined,
): ToModelOutput {
  return (given) => {
    const output = isModelOutputOptions(given) ? given.output : given
    const note = noteOf(definition.metadata.name, given)
    // At once when it can be: AI SDK 5 does not wait, and fails over a promise among its messages.
    const whole = own === undefined ? plainOutput(output) : own(given)
    const shown =
      definition.modelBudget === undefined
        ? whole
        : chain(whole, (text) => withinBudget(definition, given, text))
    return note === undefined ? shown : chain(shown, (plain) => prefixed(plain, note))
  }
}

function withinBudget(definition: ToolDefinition, given: unknown, shown: ModelOutput): ModelOutput {
  const { value } = shown
  if (typeof value !== 'string') return shown
  const context = getToolContext()
  const journal = context && journalOf(context)
  const budget = budgetOfOutput(definition, journal)
  if (budget === undefined) return shown
  const toolCallId = isModelOutputOptions(given) ? given.toolCallId : undefined
  const read = toolCallId === undefined ? undefined : readerOfRest(definition, journal, toolCallId)
  const { text } = fitBudget(value, budget, (shownBytes) =>
    adviceAtCut(definition, read?.(shownBytes)),
  )
  return { ...shown, value: text }
}

function noteOf(toolName: string, given: unknown): string | undefined {
  const context = getToolContext()
  const ambient = context && journalOf(context).history.notes
  if (!isModelOutputOptions(given)) return noteOfCopy(given) ?? ambient?.ofOutput(toolName, given)
  const { toolCallId, input } = given
  // A wrapper of the tool may have handed it other arguments.
  return noteOfArguments(toolCallId, input) ?? ambient?.ofCall({ toolCallId, toolName })
}

function isModelOutputOptions(given: unknown): given is ModelOutputOptions {
  if (typeof given !== 'object' || given === null) return false
  return 'toolCallId' in given && 'input' in given && 'output' in given
}

/** As the AI SDK does for a tool without `toModelOutput`, but for values that JSON cannot say: they end its agent. */
function plainOutput(output: unknown): ModelOutput {
  if (typeof output === 'string') return { type: 'text', value: output }
  try {
    const json = JSON.stringify(output) as string | undefined
    return { type: 'json', value: json === undefined ? null : (JSON.parse(json) as unknown) }
  } catch {
    const { json } = recordJson(output, compileRedaction({}), Infinity)
    const notice = '[This output is not JSON. What JSON cannot say is described in its place.]'
    return { type: 'text', value: `${notice}\n${json ?? 'null'}` }
  }
}

function prefixed(shown: ModelOutput, note: string): ModelOutput {
  if (typeof shown.value === 'string') return { ...shown, value: `${note}\n${shown.value}` }
  const parts = shown.type === 'content' && Array.isArray(shown.value) ? shown.value : undefined
  const text = { type: 'text', text: note }
  return {
    type: 'content',
    value: [text, ...(parts ?? [{ type: 'text', text: JSON.stringify(shown.value) }])],
  }
}
