/** Where the full text of an output is kept, by the call's token: a key of the run's state. */
export function archiveKey(callToken: string): string {
  return `tool-output:${callToken}`
}

/** A full output in the run's state. */
export interface ArchivedOutput {
  readonly toolName: string
  readonly toolCallId: string | null
  /** The output itself when it was a text, else its JSON. */
  readonly text: string
}
