/** How much of one result a model reads. The output of the tool, the log and events keep all of it. */
export interface ModelBudget {
  /** Bytes of text. @default no limit */
  readonly maxBytes?: number | undefined
  /** Lines of text. @default no limit */
  readonly maxLines?: number | undefined
  /**
   * How the model can ask for less, as a sentence: it is said at the cut when the agent has no tool that reads the rest.
   *
   * @default 'Ask for a smaller part.'
   */
  readonly advice?: string | undefined
}
