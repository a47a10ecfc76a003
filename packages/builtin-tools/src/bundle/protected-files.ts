import { isAbsolute, relative, sep } from 'node:path'
import type { SandboxOptions } from '@smithers/sandbox'
import type { TaskContext } from '@smithers/tool-core'

type FileRules = NonNullable<SandboxOptions['files']>

/**
 * The file rules of a bundle, with the protected paths of a context added to its protected names, and the files of its
 * log denied: a program that can write the log can approve calls and change what a resumed run executes.
 */
export function withProtectedPaths(
  rules: FileRules | undefined,
  rootDir: string,
  { protectedPaths = [], log }: Partial<Pick<TaskContext, 'protectedPaths' | 'log'>>,
): FileRules | undefined {
  const names = protectedPaths.flatMap((path) => nameBelow(rootDir, path))
  const denied = logNamesBelow(rootDir, log)
  if (names.length === 0 && denied.length === 0) return rules
  const deny = [...(rules?.deny ?? []), ...new Set(denied)]
  if (names.length === 0) return { ...rules, deny }
  const { protect = 'default' } = rules ?? {}
  const own = protect === 'none' ? [] : typeof protect === 'string' ? [protect] : protect
  return { ...rules, deny, protect: [...own, ...new Set(names)] }
}

/** The files of a log that lie beneath the root, by their paths from it. */
export function logNamesBelow(rootDir: string, log: TaskContext['log'] | undefined): string[] {
  return (log?.files ?? []).flatMap((path) => nameBelow(rootDir, path))
}

/** The path from the root, both as written and with its links resolved; empty when it is outside. */
function nameBelow(rootDir: string, path: string): string[] {
  const pairs = [
    [rootDir, path],
    [real(rootDir), real(path)],
  ] as const
  return pairs.flatMap(([root, target]) => {
    const name = relative(root, target)
    const isOutside =
      name === '' || name === '..' || name.startsWith(`..${sep}`) || isAbsolute(name)
    return isOutside ? [] : [name.split(sep).join('/')]
  })
}

function real(path: string): string {
  try {
    return process.getBuiltinModule('node:fs').realpathSync.native(path)
  } catch {
    return path
  }
}
