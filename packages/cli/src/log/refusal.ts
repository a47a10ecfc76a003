// A guard refused the call before anything ran. With any other code, the tool ran and did not succeed.
const refusals: ReadonlySet<string> = new Set([
  'TOOL_NOT_FOUND',
  'INVALID_INPUT',
  'TOOL_PATH_INVALID',
  'TOOL_PATH_ESCAPE',
  'TOOL_PATH_DENIED',
  'TOOL_FILE_TOO_LARGE',
  'TOOL_CONTENT_TOO_LARGE',
  'TOOL_PATCH_TOO_LARGE',
  'TOOL_NETWORK_DISABLED',
  'TOOL_GIT_REMOTE_DISABLED',
  'TOOL_ISOLATION_UNAVAILABLE',
  'TOOL_LIMIT_REACHED',
  'TOOL_CIRCUIT_OPEN',
  'TOOL_APPROVAL_REQUIRED',
  'TOOL_APPROVAL_REJECTED',
  'TOOL_CALL_IN_PROGRESS',
  'TOOL_CALL_BLOCKED',
  'TOOL_LOG_UNAVAILABLE',
  'TOOL_INPUT_NOT_CANONICAL',
])

/** True for errors with which a guard stopped a call before it ran. */
export function isRefusal(code: string): boolean {
  return refusals.has(code)
}
