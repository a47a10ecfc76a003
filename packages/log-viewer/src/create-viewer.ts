import { randomBytes } from 'node:crypto'
import { userInfo } from 'node:os'
import { SmithersError } from '@smithers/tool-core'
import type { RunStore, ToolCallLog } from '@smithers/tool-core'
import type { ErrorText } from './api/session.ts'
import { viewerApp } from './http/viewer-app.ts'
import { LogReader } from './reading/log-reader.ts'

/** Options of {@link createViewer}. */
export interface ViewerOptions {
  /** The log to show. A log with `listRuns`, `search` and `version` is shown whole; of another, the newest 10 000 calls. */
  readonly log: ToolCallLog
  /** The runs of workflows, when they are not in the log. @default `log.runs` */
  readonly store?: RunStore | undefined
  /** Whether approvals may be decided in the page. @default false */
  readonly decide?: boolean | undefined
  /** The name of the log in the page, such as its file. @default the log's own name */
  readonly title?: string | undefined
  /** The `--log` argument of the commands that can be copied. @default none */
  readonly logArgument?: string | undefined
  /** Where error codes are explained: a code is appended. @default none, so codes are no links */
  readonly errorDocs?: string | undefined
  /** What error codes mean, by code: the page shows it beside an error. @default none */
  readonly errorTexts?: Readonly<Record<string, ErrorText>> | undefined
}

/** What a handler must know of the server that it is part of. */
export interface ViewerPlace {
  /** Every value of the Host header that reaches this server rightly, such as `127.0.0.1:4000`. */
  readonly hosts: readonly string[]
}

/** A viewer, as a handler of requests. */
export interface Viewer {
  /** Answers one request. */
  readonly fetch: (request: Request) => Promise<Response>
  /** The secret of every request for data: `#token=…` in the address of the page. Keep it out of logs. */
  readonly token: string
}

/**
 * Makes a page over a log, as a handler for a server of your own. The server must listen on this machine alone: the page
 * shows arguments and outputs of tools to everyone who has the token.
 *
 * @throws SmithersError `INVALID_INPUT` for options.
 * @example
 * const viewer = createViewer({ log, hosts: ['127.0.0.1:4000'] })
 */
export function createViewer(options: ViewerOptions & ViewerPlace): Viewer {
  const { log, store, decide = false, title, logArgument, errorDocs, errorTexts, hosts } = options
  if (typeof log?.list !== 'function') {
    throw new SmithersError('INVALID_INPUT', 'createViewer needs { log }, a tool-call log.')
  }
  if (!Array.isArray(hosts) || hosts.length === 0) {
    throw new SmithersError(
      'INVALID_INPUT',
      "createViewer needs { hosts }, the names of its server, such as ['127.0.0.1:4000']. serveViewer knows its own.",
    )
  }
  const token = randomBytes(24).toString('base64url')
  const app = viewerApp(new LogReader(log, store), {
    token,
    hosts: hosts.map((host) => host.toLowerCase()),
    canDecide: decide,
    decidedBy: systemUser(),
    title: title ?? log.name,
    logArgument: logArgument ?? null,
    errorDocs: errorDocs ?? null,
    errorTexts: errorTexts ?? {},
  })
  return { token, fetch: async (request) => await app.fetch(request) }
}

function systemUser(): string {
  try {
    return userInfo().username
  } catch {
    // A user without a name.
    return `user ${process.getuid?.() ?? 'unknown'}`
  }
}
