/** A request that this server does not carry out: 400 for a wrong one, 409 for one that came too late. */
export class RefusedRequest extends Error {
  /** Express answers with it. */
  readonly status: 400 | 409

  constructor(status: 400 | 409, message: string) {
    super(message)
    this.status = status
  }
}
