const maxShown = 8

/**
 * One sentence for a command that failed where a name is mounted read-only: what programs say then ("Device or resource
 * busy") does not mention the rule. `undefined` when its output has no such message.
 */
export function protectionHint(output: string, mounted: readonly string[]): string | undefined {
  if (mounted.length === 0 || !refusal.test(output)) return undefined
  const mentioned = mounted.filter((name) => output.includes(name))
  const names = mentioned.length > 0 ? mentioned : mounted
  const shown = names.slice(0, maxShown).map((name) => JSON.stringify(name))
  const more = names.length > maxShown ? ` and ${names.length - maxShown} more` : ''
  return `Commands may read but not change ${shown.join(', ')}${more}: protected names, which the option files.protect lists.`
}

// What `strerror` and Node say for EBUSY and EROFS.
const refusal = /Device or resource busy|Read-only file system|\bEBUSY\b|\bEROFS\b/
