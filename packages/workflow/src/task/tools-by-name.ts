/** True for what an agent may have as its tools. A list would offer the model tools named "0" and "1". */
export function isToolsByName(tools: unknown): boolean {
  return (
    tools === undefined || (typeof tools === 'object' && tools !== null && !Array.isArray(tools))
  )
}

/** Completes the sentence "… must be …" of an error. */
export const toolsByName = 'an object of tools by name'

/** What to do with a list of tools. */
export const listAdvice = 'For a list there is toolset([a, b]).'
