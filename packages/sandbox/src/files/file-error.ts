import { SandboxError } from '../errors/sandbox-error.ts'
import type { SandboxErrorCode } from '../errors/sandbox-error.ts'

const maxShownLength = 200

/** A path for a message: quoted, control characters escaped, long paths cut. */
export function quotePath(path: string): string {
  const shown = path.length > maxShownLength ? `${path.slice(0, maxShownLength)}…` : path
  return JSON.stringify(shown === '' ? '.' : shown)
}

/** The `errno` name of a system error, such as `'ENOENT'`; undefined for anything else. */
export function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

export function fileNotFound(path: string, cause?: unknown): SandboxError {
  return new SandboxError(
    'TOOL_FILE_NOT_FOUND',
    `File not found: ${quotePath(path)}. Check the spelling; paths are relative to the root directory.`,
    { details: { path }, cause, effect: 'none' },
  )
}

export function pathEscape(path: string): SandboxError {
  return new SandboxError(
    'TOOL_PATH_ESCAPE',
    `Path ${quotePath(path)} is outside the root directory. Use a path below the root, such as "src/main.ts".`,
    { details: { path }, effect: 'none' },
  )
}

export function pathInvalid(path: string, reason: string): SandboxError {
  // An empty path is the error itself, so it is not shown as the root.
  const shown = path === '' ? '""' : quotePath(path)
  return new SandboxError('TOOL_PATH_INVALID', `Path ${shown} ${reason}`, {
    details: { path },
    effect: 'none',
  })
}

export function notAFile(path: string, kind: string): SandboxError {
  return new SandboxError(
    'TOOL_NOT_A_FILE',
    `${quotePath(path)} is a ${kind}, not a regular file. Only regular files are read and written.`,
    { details: { path, kind }, effect: 'none' },
  )
}

export function alreadyExists(path: string): SandboxError {
  return new SandboxError(
    'TOOL_FILE_FAILED',
    `${quotePath(path)} already exists. Choose another name, or write without create: true to replace it.`,
    { details: { path, errno: 'EEXIST' }, effect: 'none' },
  )
}

/** Error code and text for each `errno` name. */
const meanings: Readonly<Record<string, readonly [SandboxErrorCode, string]>> = {
  ENOENT: ['TOOL_FILE_NOT_FOUND', 'does not exist.'],
  ENOTDIR: ['TOOL_PATH_INVALID', 'or a directory above it is not a directory.'],
  EISDIR: ['TOOL_NOT_A_FILE', 'is a directory, not a regular file.'],
  ENAMETOOLONG: ['TOOL_PATH_INVALID', 'is too long. A name has at most 255 bytes.'],
  ELOOP: ['TOOL_PATH_INVALID', 'goes through too many symbolic links.'],
  EINVAL: ['TOOL_PATH_INVALID', 'was refused by the operating system as invalid.'],
  ENXIO: ['TOOL_NOT_A_FILE', 'is a pipe, socket or device, not a regular file.'],
  ENOTEMPTY: ['TOOL_FILE_FAILED', 'is a directory that is not empty.'],
  EEXIST: ['TOOL_FILE_FAILED', 'already exists.'],
  EACCES: ['TOOL_FILE_FAILED', 'cannot be used: permission denied by the file system.'],
  EPERM: ['TOOL_FILE_FAILED', 'cannot be used: the operating system does not permit it.'],
  EROFS: ['TOOL_FILE_FAILED', 'is on a read-only file system.'],
  ENOSPC: ['TOOL_FILE_FAILED', 'could not be written: no space left on the disk.'],
  EDQUOT: ['TOOL_FILE_FAILED', 'could not be written: the disk quota is used up.'],
  EFBIG: ['TOOL_FILE_FAILED', 'could not be written: larger than the file-size limit.'],
  EMFILE: ['TOOL_FILE_FAILED', 'could not be opened: this process has no file descriptors left.'],
  ENFILE: ['TOOL_FILE_FAILED', 'could not be opened: the system has no file descriptors left.'],
  EXDEV: ['TOOL_FILE_FAILED', 'is on another file system; copy it instead.'],
  EBUSY: ['TOOL_FILE_FAILED', 'is in use by the system.'],
}

/** Converts a system error at `path` into a `SandboxError`; returns any other error unchanged. */
export function toFileError(error: unknown, path: string): unknown {
  if (SandboxError.isInstance(error)) return error
  const code = systemCode(error)
  if (code === undefined) return error
  const [meaning, text] = meanings[code] ?? ['TOOL_FILE_FAILED', `failed (${code}).`]
  return new SandboxError(meaning, `${quotePath(path)} ${text}`, {
    details: { path, errno: code },
    cause: error,
  })
}
