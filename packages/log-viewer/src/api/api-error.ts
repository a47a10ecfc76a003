/** The body of every answer that is not 2xx. */
export interface ApiError {
  readonly error: {
    readonly code: ApiErrorCode
    /** Says what was wrong and what to do. Plain text. */
    readonly message: string
  }
}

/**
 * - `UNAUTHORIZED` (401): no token, or another one. Open the address that the program printed.
 * - `FORBIDDEN` (403): the request comes from another site, or decisions are not allowed here.
 * - `NOT_FOUND` (404): no such run, call, approval or path.
 * - `CONFIRMATION_REQUIRED` (409): the call cannot be repeated safely; ask again and send `confirmed: true`.
 * - `ALREADY_DECIDED` (409): the approval was decided elsewhere, has expired or was superseded.
 * - `INVALID_REQUEST` (400), `NOT_JSON` (415), `TOO_LARGE` (413), `WRONG_HOST` (421).
 * - `INVALID_ARGUMENTS` (422): the changed arguments do not match the tool's schema; the approval stays pending.
 * - `LOG_UNAVAILABLE` (503): the log did not answer; the next request may succeed.
 */
export type ApiErrorCode =
  | 'UNAUTHORIZED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'CONFIRMATION_REQUIRED'
  | 'ALREADY_DECIDED'
  | 'INVALID_REQUEST'
  | 'NOT_JSON'
  | 'TOO_LARGE'
  | 'WRONG_HOST'
  | 'INVALID_ARGUMENTS'
  | 'LOG_UNAVAILABLE'
