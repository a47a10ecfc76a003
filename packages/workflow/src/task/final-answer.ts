/** The calls with which an agent may end its task, such as those of `response`. */
export interface FinalAnswer {
  /** The tools to hand to the agent: those that end the task are listened to. */
  readonly tools: Readonly<Record<string, unknown>>
  /** The first of `tools` that ends the task, as the agent knows it; null when there is none. */
  readonly toolName: string | null
  /** What the valid call returned, once one was made. */
  readonly given: () => { readonly value: unknown; readonly toolName: string } | undefined
}

/** Listens for the call that ends the task. A tool refuses every call after a valid one, so there is only one answer. */
export function listenForAnswer(tools: Readonly<Record<string, unknown>>): FinalAnswer {
  let given: { readonly value: unknown; readonly toolName: string } | undefined
  const heard = Object.entries(tools).map(([toolName, tool]) => {
    if (!isFinalAnswer(tool)) return [toolName, tool] as const
    const execute = async (...args: never[]): Promise<unknown> => {
      const value = await tool.execute(...args)
      given ??= { value, toolName }
      return value
    }
    return [toolName, { ...tool, execute }] as const
  })
  return {
    tools: Object.fromEntries(heard),
    toolName: Object.entries(tools).find(([, tool]) => isFinalAnswer(tool))?.[0] ?? null,
    given: () => given,
  }
}

// `defineTool({ finalAnswer: true })` marks the tool. A registered symbol, so that copies of tool-core agree.
const finalAnswerKey = Symbol.for('smithers.tool.finalAnswer')

interface EndingTool {
  readonly execute: (...args: never[]) => unknown
}

function isFinalAnswer(tool: unknown): tool is EndingTool {
  return (
    typeof tool === 'object' &&
    tool !== null &&
    (tool as { readonly [finalAnswerKey]?: unknown })[finalAnswerKey] === true &&
    typeof (tool as Partial<EndingTool>).execute === 'function'
  )
}
