import { editDistance } from './edit-distance.ts'
import type { OptionFields } from './option-reader.ts'

/**
 * The option that `unknown` probably means: one with a similar name at any depth, or, for an object, one of the options
 * it contains. Undefined when none is close.
 */
export function nearestOption(
  unknown: string,
  value: unknown,
  all: OptionFields,
): string | undefined {
  const wanted = lastName(unknown)
  const candidates = pathsOf(all)
    .map((path) => ({ path, name: lastName(path) }))
    .map(({ path, name }) => ({ path, name, far: editDistance(wanted, name) }))
    .filter(({ name, far }) => far <= Math.max(2, Math.max(name.length, wanted.length) / 2))
    .toSorted((a, b) => a.far - b.far)
  const [nearest] = candidates
  if (nearest !== undefined) return nearest.path
  const contents = typeof value === 'object' && value !== null ? Object.keys(value) : []
  return contents.find((name) => Object.hasOwn(all, name))
}

function pathsOf(fields: OptionFields, prefix = ''): string[] {
  return Object.entries(fields).flatMap(([name, { fields: nested }]) => [
    prefix + name,
    ...(nested === undefined ? [] : pathsOf(nested, `${prefix}${name}.`)),
  ])
}

/** In lower case, so that `timeoutMS` equals `timeoutMs`. */
function lastName(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1).toLowerCase()
}
