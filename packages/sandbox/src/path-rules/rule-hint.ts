import { isWithin } from './path-order.ts'

const maxShown = 8

/**
 * One sentence for a command that failed because of a path rule: what programs print then ("Device or resource busy",
 * "Permission denied") does not mention the rule. `undefined` when its output has no such message.
 */
export function ruleHint(
  output: string,
  {
    mounted,
    denied,
    rootDir,
  }: {
    readonly mounted: readonly string[]
    readonly denied: readonly string[]
    readonly rootDir: string
  },
): string | undefined {
  const hidden = denied.filter((name) => output.includes(name))
  if (hidden.length > 0 && denial.test(output)) {
    return `Commands may neither read nor change ${shown(hidden)}: the option files.deny covers them.`
  }
  if (!refusal.test(output)) return undefined
  const mentioned = mounted.filter((name) => output.includes(name))
  const outside = mentioned.length > 0 ? undefined : pathOutside(output, rootDir)
  if (outside !== undefined) {
    return `Commands can change the root and temporary directories only, not ${JSON.stringify(outside)}. Use a path in the root.`
  }
  if (mounted.length === 0) return undefined
  return `Commands may read but not change ${shown(mentioned.length > 0 ? mentioned : mounted)}: protected names, which the option files.protect lists.`
}

/** An absolute path that a line about a read-only file system names, when it is not in the root. */
function pathOutside(output: string, rootDir: string): string | undefined {
  const [, path] =
    /(?:^|[\s'"`(:])(\/[^\s'"`:]+)[^\n]*(?:Read-only file system|\bEROFS\b)/mu.exec(output) ??
    /(?:\bEROFS\b)[^\n]*[\s'"`(](\/[^\s'"`:]+)/u.exec(output) ??
    []
  return path === undefined || isWithin(path, rootDir) ? undefined : path
}

function shown(names: readonly string[]): string {
  const more = names.length > maxShown ? ` and ${names.length - maxShown} more` : ''
  return (
    names
      .slice(0, maxShown)
      .map((name) => JSON.stringify(name))
      .join(', ') + more
  )
}

// What `strerror` and Node say for EBUSY and EROFS, and for EACCES.
const refusal = /Device or resource busy|Read-only file system|\bEBUSY\b|\bEROFS\b/
const denial =
  /Permission denied|\bEACCES\b|Device or resource busy|Read-only file system|\bEBUSY\b|\bEROFS\b/
