import { quotePath, systemCode } from '../files/file-error.ts'
import { SandboxError } from '../errors/sandbox-error.ts'

/** Why a lookup failed: the name does not exist, permissions forbid it, or another reason. */
export type LookupFailure = 'absent' | 'forbidden' | 'failed'

/**
 * Classifies a failed lookup. Only errors that say so mean that nothing exists: taking any other for
 * absence would turn a rule off by, say, `chmod`. `EINVAL` is the answer of file systems in which no such name can be;
 * `ENAMETOOLONG` may be about the path to a name that does exist.
 */
export function lookupFailure(error: unknown): LookupFailure {
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
    lookupFailure(cause) === 'forbidden' ? 'TOOL_PATH_DENIED' : 'TOOL_FILE_FAILED',
    `${quotePath(name)} cannot be examined (${errno}), so the ${rule} option cannot be enforced and nothing was started. ` +
      (errno === 'EMFILE' || errno === 'ENFILE'
        ? 'Raise the limit of open files (ulimit -n), or run fewer commands at once.'
        : 'Restore its permissions (sandbox.files.chmod), or remove it.'),
    { details: { path: name, rule, errno }, cause, effect: 'none' },
  )
}
