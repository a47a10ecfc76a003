import { posix } from 'node:path'
import type { SandboxFiles } from './files/sandbox-files.ts'
import type { RunSettings } from './process/confined-run.ts'
import type { Explanation, SandboxAction } from './sandbox.ts'
import { SandboxError } from './sandbox-error.ts'

/** Answers whether an action would be let through, by the same rules that would stop it. */
export async function explainAction(
  settings: RunSettings,
  action: SandboxAction,
): Promise<Explanation> {
  return action.type === 'run' ? explainRun(settings, action) : explainFile(settings, action)
}

function explainRun(
  settings: RunSettings,
  { command, args = [] }: Extract<SandboxAction, { type: 'run' }>,
): Explanation {
  const refusal = settings.check?.([command, ...args]) ?? null
  if (refusal !== null) {
    return {
      allowed: false,
      reason: `Refused by the rule "${refusal.rule}": ${refusal.reason}, and network access is off.`,
      code: refusal.code,
      option: 'network',
    }
  }
  return {
    allowed: true,
    reason: {
      enforced: 'Allowed; the operating system keeps it off the network.',
      'policy-only':
        'Allowed; only this check of the command line keeps commands off the network here.',
      host: 'Allowed, with the network open.',
    }[settings.enforced.network],
  }
}

async function explainFile(
  settings: RunSettings,
  { type, path }: Extract<SandboxAction, { type: 'read' | 'write' }>,
): Promise<Explanation> {
  try {
    const resolved = await resolvePath(settings.files, path)
    const name =
      type === 'read'
        ? undefined
        : (protectedName(settings, resolved.path) ?? protectedName(settings, posix.normalize(path)))
    if (name !== undefined) {
      return {
        allowed: false,
        reason: `"${resolved.path}" is under the protected name "${name}", which something outside the sandbox trusts.`,
        code: 'TOOL_PATH_DENIED',
        option: 'files.protect',
      }
    }
    if (type === 'read' && !resolved.exists) {
      return { allowed: false, reason: `"${path}" does not exist.`, code: 'TOOL_FILE_NOT_FOUND' }
    }
    return { allowed: true, reason: `"${resolved.path}" is under the root.` }
  } catch (error) {
    if (!SandboxError.isInstance(error)) throw error
    return {
      allowed: false,
      reason: error.message,
      code: error.code,
      ...(error.code === 'TOOL_PATH_DENIED' ? { option: 'files.deny' } : {}),
    }
  }
}

/** The path with its links resolved, as far as it exists. */
async function resolvePath(
  files: SandboxFiles,
  path: string,
): Promise<{ readonly path: string; readonly exists: boolean }> {
  try {
    return { path: (await files.stat(path)).path, exists: true }
  } catch (error) {
    const parent = posix.dirname(path)
    const missing = SandboxError.isInstance(error) && error.code === 'TOOL_FILE_NOT_FOUND'
    if (!missing || parent === path) throw error
    const above = await resolvePath(files, parent)
    return { path: posix.join(above.path, posix.basename(path)), exists: false }
  }
}

function protectedName({ protect }: RunSettings, path: string): string | undefined {
  return protect.find((name) => path === name || path.startsWith(`${name}/`))
}
