import { SmithersError, type SmithersErrorCode } from '@smithers/tool-core'

/**
 * Serialises a value that must survive a restart unchanged. JSON.stringify silently alters values that JSON cannot
 * represent, so anything but plain JSON is refused, with its path. Properties that are `undefined` are left out;
 * `undefined` itself becomes null.
 *
 * @param what The subject of the error message.
 * @throws SmithersError with `code`
 */
export function plainJson(value: unknown, what: string, code: SmithersErrorCode): string {
  const problem = findProblem(value, [], new Set())
  if (problem !== null) {
    throw new SmithersError(
      code,
      `${what} cannot be recorded: ${problem}. Use plain JSON: objects, arrays, strings, finite numbers, booleans and null.`,
      { details: { problem }, effect: 'none' },
    )
  }
  return JSON.stringify(value ?? null)
}

const deepest = 1000

function findProblem(value: unknown, path: readonly string[], above: Set<unknown>): string | null {
  const at = path.length === 0 ? 'it' : `"${path.join('.')}"`
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'undefined':
      return null
    case 'number':
      return Number.isFinite(value) ? null : `${at} is ${value}`
    case 'object':
      break
    default:
      return `${at} is a ${typeof value}`
  }
  if (value === null) return null
  if (above.has(value)) return `${at} contains itself`
  if (path.length > deepest) return `it is nested deeper than ${deepest} levels`
  const prototype: unknown = Object.getPrototypeOf(value)
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) {
    return `${at} is a ${value.constructor.name || 'class instance'}`
  }
  above.add(value)
  for (const [key, child] of Object.entries(value)) {
    if (child === undefined && Array.isArray(value)) {
      return `"${[...path, key].join('.')}" is undefined`
    }
    const problem = findProblem(child, [...path, key], above)
    if (problem !== null) return problem
  }
  above.delete(value)
  return null
}
