import { checkFileWriting } from './files/create-sandbox-files.ts'
import { quotePath } from './files/file-error.ts'
import { sandboxClosed } from './process/run-errors.ts'
import type { RunSettings } from './process/run-settings.ts'
import type { Explanation, SandboxAction } from './sandbox.ts'
import { SandboxError } from './errors/sandbox-error.ts'

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
  if (settings.commands.isClosed) {
    const { code, message } = sandboxClosed()
    return { allowed: false, reason: message, code }
  }
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
      enforced:
        settings.egress === null
          ? 'Allowed; the operating system keeps it off the network.'
          : 'Allowed; it reaches the hosts of network.allow and nothing else.',
      'policy-only':
        'Allowed; only this check of the command line keeps commands off the network here.',
      host: 'Allowed, with the network open.',
    }[settings.enforced.network],
  }
}

async function explainFile(
  { files }: RunSettings,
  { type, path }: Extract<SandboxAction, { type: 'read' | 'write' }>,
): Promise<Explanation> {
  try {
    if (type === 'write') checkFileWriting(files, path)
    else (await files.open(path)).close()
    return {
      allowed: true,
      reason: `${quotePath(path)} is under the root, and no rule forbids it.`,
    }
  } catch (error) {
    if (!SandboxError.isInstance(error)) throw error
    const { rule } = error.details
    return {
      allowed: false,
      reason: error.message,
      code: error.code,
      ...(error.code === 'TOOL_PATH_DENIED' ? { option: `files.${String(rule)}` } : {}),
    }
  }
}
