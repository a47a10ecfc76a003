/** What an error code means, in words. */
export interface ErrorText {
  readonly meaning: string
  /** What to do next. */
  readonly advice: string
}

/**
 * `GET /api/session`: what this viewer shows and what it may do. The page asks once, before anything else.
 *
 * Every request carries `Authorization: Bearer TOKEN`. The printed address holds the token in its fragment
 * (`http://127.0.0.1:PORT/#token=TOKEN`); the page moves it to `sessionStorage` and takes it out of the address.
 */
export interface SessionResponse {
  /** The log's name, such as `sqlite` or `postgres`. */
  readonly logName: string
  /** Which log it is, as a person would say it: a file name or a database without its password. */
  readonly title: string
  /** The `--log` argument of commands to copy; null when the program that started the viewer gave none. */
  readonly logArgument: string | null
  /** Approvals may be decided here. Otherwise the page says how to start a viewer that may. */
  readonly canDecide: boolean
  /** The system user, recorded with each decision. */
  readonly decidedBy: string
  /** The log keeps requests for approval. */
  readonly hasApprovals: boolean
  /** False for a log without `listRuns`: then the runs are those of the newest {@link newestRows} calls. */
  readonly listsAllRuns: boolean
  /** How many of the newest calls the list of runs is made of where `listsAllRuns` is false. */
  readonly newestRows: number
  /** What the codes of errors mean, by code. Empty where the program that started the viewer gave none. */
  readonly errorTexts: Readonly<Record<string, ErrorText>>
  /** The server's clock, milliseconds since the epoch: ages are counted from it. */
  readonly nowMs: number
}
