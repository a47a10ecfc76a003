import type { ToolDefinition } from '../contract/tool-definition.ts'
import type { AttemptJournal } from '../journal/attempt-journal.ts'

/** Says how the model reads a text from a byte on, as a sentence. */
export type ReaderOfRest = (offset: number) => string

/**
 * The call that reads the rest of a result, where the agent is known to have the tool for it and the log keeps what the
 * tool returned.
 */
export function readerOfRest(
  { logOutput }: ToolDefinition,
  journal: AttemptJournal | undefined,
  id: string,
): ReaderOfRest | undefined {
  const name = journal?.responseTool
  if (typeof name !== 'string' || logOutput !== undefined) return undefined
  return (offset) => callThatReads(name, id, offset)
}

export function callThatReads(name: string, id: string, offset: number): string {
  return `Read them with ${name}: ${JSON.stringify({ id, offset })}`
}

/** What the note at a cut advises. */
export function adviceAtCut({ modelBudget }: ToolDefinition, read: string | undefined): string {
  return read ?? modelBudget?.advice ?? 'Ask for a smaller part.'
}
