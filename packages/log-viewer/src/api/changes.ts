/**
 * `GET /api/changes?since=VERSION`: waits until the log has changed, at most 25 seconds, and answers at once when it
 * already has. The page asks again and again, and reads anew what it shows whenever `version` differs. Without `since` it
 * answers at once.
 */
export interface ChangesResponse {
  /** An opaque text that differs after any process has written to the log. */
  readonly version: string
  readonly changed: boolean
  /** The server's clock, milliseconds since the epoch. */
  readonly nowMs: number
}
