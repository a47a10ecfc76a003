import type { ErrorText } from '../api/session.ts'

/** What a viewer was made with, all options resolved. */
export interface ViewerSettings {
  /** The secret of every request for data. */
  readonly token: string
  /** Every value of the Host header that is ours. */
  readonly hosts: readonly string[]
  readonly canDecide: boolean
  readonly decidedBy: string
  readonly title: string
  readonly logArgument: string | null
  readonly errorDocs: string | null
  readonly errorTexts: Readonly<Record<string, ErrorText>>
}
