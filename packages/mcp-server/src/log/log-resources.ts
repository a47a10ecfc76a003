import type { ToolCallLog, ToolCallRow } from '@smithers/tool-core/log'
import {
  type ListResourcesResult,
  type ListResourceTemplatesResult,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
} from '@modelcontextprotocol/server'
import { printableLine, shortened } from '../text/printable.ts'

const runUri = 'smithers-log://runs/current'
const callUris = 'smithers-log://calls/'

/** The resources of a server: the calls of its run. */
export function listLogResources(): ListResourcesResult {
  return {
    resources: [
      {
        uri: runUri,
        name: 'calls',
        title: 'Calls of this server',
        description: 'The newest 1000 calls of the run of this server, newest first.',
        mimeType: 'application/json',
      },
    ],
  }
}

/** How the row of one call is addressed. */
export function listLogTemplates(): ListResourceTemplatesResult {
  return {
    resourceTemplates: [
      {
        uriTemplate: `${callUris}{token}`,
        name: 'call',
        title: 'One call',
        description:
          'The row of a call of this run, by its token, with input and output as the log has them.',
        mimeType: 'application/json',
      },
    ],
  }
}

/**
 * Reads a resource. Only rows of the server's own run: its log may hold the calls of other projects.
 *
 * @throws ProtocolError for an address that names nothing
 */
export async function readLogResource(
  log: ToolCallLog,
  runId: string,
  uri: string,
): Promise<ReadResourceResult> {
  if (uri === runUri) {
    const rows = await log.list({ runId, order: 'descending', limit: 1000 })
    return asJson(uri, rows.map(summaryOf))
  }
  if (uri.startsWith(callUris)) {
    const callToken = uri.slice(callUris.length)
    const [row] = await log.list({ callToken, runId, limit: 1 })
    if (row !== undefined) return asJson(uri, row)
  }
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `There are no rows at ${shortened(printableLine(uri), 200)}. The resources are ${runUri} and ${callUris}{token}.`,
  )
}

function summaryOf(row: ToolCallRow): object {
  const { callToken, toolName, status, effect, attempt, startedAtMs, finishedAtMs } = row
  const uri = `${callUris}${callToken}`
  return { uri, callToken, toolName, status, effect, attempt, startedAtMs, finishedAtMs }
}

function asJson(uri: string, value: unknown): ReadResourceResult {
  return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(value, null, 2) }] }
}
