import type { ApiError } from '../../api/api-error.ts'
import { SourceError, type ViewerSource } from './viewer-source.ts'

/** Reads from the server that sent the page. */
// oxlint-disable-next-line max-lines-per-function -- a factory: it only returns methods
export function httpSource(token: string): ViewerSource {
  async function request(
    path: string,
    init: RequestInit = {},
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    let response: Response
    try {
      response = await fetch(path, {
        ...init,
        headers: { ...headers, Authorization: `Bearer ${token}` },
        cache: 'no-store',
        credentials: 'omit',
        redirect: 'error',
      })
    } catch (error) {
      if (init.signal?.aborted === true) throw error
      throw new SourceError(
        'UNREACHABLE',
        'The viewer does not answer. Start it again, then open the address that it prints.',
      )
    }
    if (!response.ok) throw await failureOf(response)
    return response
  }

  async function read<Answer>(
    path: string,
    query: Readonly<Record<string, string | number | undefined>> = {},
    signal?: AbortSignal,
  ): Promise<Answer> {
    const given = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]],
    )
    const search = given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`
    const response = await request(`${path}${search}`, signal === undefined ? {} : { signal })
    return (await response.json()) as Answer
  }

  return {
    kind: 'server',
    lacks: null,
    session: () => read('/api/session'),
    runs: (cursor) => read('/api/runs', { limit: 50, cursor }),
    timeline: (runId, limit) => read('/api/timeline', { runId, limit }),
    run: (runId) => read('/api/run', { runId }),
    calls: (runId, from, limit) => read('/api/calls', { runId, from, limit }),
    call: (callToken) => read('/api/call', { callToken }),
    search: (q, cursor) => read('/api/search', { q, limit: 100, cursor }),
    approvals: () => read('/api/approvals'),
    changes: (since, signal) => read('/api/changes', { since }, signal),
    async decide(decision) {
      const response = await request(
        '/api/approvals/decide',
        { method: 'POST', body: JSON.stringify(decision) },
        { 'Content-Type': 'application/json' },
      )
      return response.json() as never
    },
    async exportRun(runId, format) {
      const query = new URLSearchParams({ runId, format })
      return (await request(`/api/export?${query.toString()}`)).blob()
    },
  }
}

async function failureOf(response: Response): Promise<SourceError> {
  try {
    const { error } = (await response.json()) as ApiError
    return new SourceError(error.code, error.message)
  } catch {
    return new SourceError(
      String(response.status),
      `The viewer answered with status ${response.status}. Reload the page.`,
    )
  }
}
