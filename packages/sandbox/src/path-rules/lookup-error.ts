import { quotePath, systemCode } from '../files/file-error.ts'
import { SandboxError } from '../errors/sandbox-error.ts'

/** Why a name could not be looked at: nothing is there, permissions forbid it, or anything else. */
export type LookFailure = 'absent' | 'forbidden' | 'failed'

/**
 * What a failed look at a name means. Only the errors that say so mean that nothing is there: taking any other for
 * absence would turn a rule off by, say, `chmod`. `EINVAL` is the answer of file systems in which no such name can be;
 * `ENAMETOOLONG` may be about the path to a name that does exist.
 */
export function lookFailure(error: unknown): LookFailure {
  switch (systemCode(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
    case 'ELOOP':
    case 'EINVAL':
      return 'absent'
    case 'EACCES':
    case 'EPERM':
      return 'forbidden'
    default:
      return 'failed'
  }
}

/** The refusal of a command whose rules cannot be enforced, since a directory could not be examined. */
export function cannotExamine(
  name: string,
  rule: 'deny' | 'protect',
  cause: unknown,
): SandboxError {
  const errno = systemCode(cause) ?? 'unknown error'
  return new SandboxError(
    lookFailure(cause) === 'forbidden' ? 'TOOL_PATH_DENIED' : 'TOOL_FILE_FAILED',
    `${quotePath(name)} cannot be examined (${errno}), so the ${rule} option cannot be enforced and nothing was started. ` +
      (errno === 'EMFILE' || errno === 'ENFILE'
        ? 'Raise the limit of open files (ulimit -n), or run fewer commands at once.'
        : 'Restore its permissions (sandbox.files.chmod), or remove it.'),
    { details: { path: name, rule, errno }, cause, effect: 'none' },
  )
}
