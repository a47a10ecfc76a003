import type { ToolDefinition } from '../contract/tool-definition.ts'

/**
 * Warns the author of a tool that must not run twice when its `execute` takes no context: it almost surely needs
 * `ctx.idempotencyKey`. Each tool is defined once, so it warns once.
 */
export function warnOnce(
  options: { readonly acceptsContext?: boolean; readonly execute: unknown },
  definition: ToolDefinition,
): void {
  const { metadata, warn } = definition
  if (!metadata.sideEffect || metadata.idempotent || takesContext(options)) return
  warn(
    `Tool "${metadata.name}" has a side effect that is not idempotent, but its execute does not take the context. Take (args, ctx) and pass ctx.idempotencyKey on, so that a retry repeats nothing; acceptsContext: true silences this.`,
  )
}

/** True when the function of a tool takes the context, as far as its source shows. */
export function takesContext(options: {
  readonly acceptsContext?: boolean
  readonly execute: unknown
}): boolean {
  return (
    options.acceptsContext === true ||
    takesSecondParameter(options.execute as (...args: never) => unknown)
  )
}

let hinted = false

/** Says once in a process that a tool which must not run twice was called outside a run, where its key is random. */
export function hintAtMissingRun({ metadata, warn }: ToolDefinition): void {
  if (hinted) return
  hinted = true
  warn(
    `Tool "${metadata.name}" was called outside a run, so its idempotency key is random and no later call will have it. Call it through createToolRun(…).tools(…), or within runWithToolContext.`,
  )
}

// `length` counts parameters up to the first with a default or a rest, so below two it settles nothing: the source does.
function takesSecondParameter(execute: (...args: never) => unknown): boolean {
  if (execute.length >= 2) return true
  const source = Function.prototype.toString.call(execute)
  // A bound or native function shows no source; a false alarm would be worse than silence.
  if (source.includes('[native code]')) return true
  const parameters = parameterList(source)
  return parameters === undefined || parameters.includes('...') || hasTopLevelComma(parameters)
}

/** The text between the parentheses of a function's parameters; undefined for `args => …`, which has one. */
function parameterList(source: string): string | undefined {
  const start = source.indexOf('(')
  const arrow = source.indexOf('=>')
  if (start === -1 || (arrow !== -1 && arrow < start)) return ''
  let depth = 0
  for (let index = start; index < source.length; index += 1) {
    const character = source.charAt(index)
    if (character === '"' || character === "'" || character === '`') return undefined
    if ('([{'.includes(character)) depth += 1
    if (')]}'.includes(character)) depth -= 1
    if (depth === 0) return source.slice(start + 1, index)
  }
  return undefined
}

function hasTopLevelComma(parameters: string): boolean {
  let depth = 0
  for (const character of parameters.replace(/,\s*$/, '')) {
    if ('([{'.includes(character)) depth += 1
    if (')]}'.includes(character)) depth -= 1
    if (character === ',' && depth === 0) return true
  }
  return false
}
