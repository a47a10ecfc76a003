import type { ToolCallCursor, ToolCallLog, ToolCallRow } from '@smithers/tool-core/log'
import { summarizedContents } from './call-summary.ts'

/** The newest calls of one run, kept in memory with cut contents and read anew as far as they can have changed. */
export class RunCalls {
  readonly #log: ToolCallLog
  readonly #runId: string
  readonly #mostCalls: number
  /** Replaced by each reading, so a caller that still works with the one before sees no half of it. */
  #rows: ReadonlyMap<string, ToolCallRow> = new Map()
  #version: string | undefined
  #reading: Promise<unknown> = Promise.resolve()

  constructor(log: ToolCallLog, runId: string, mostCalls: number) {
    this.#log = log
    this.#runId = runId
    this.#mostCalls = mostCalls
  }

  /** The rows as they are at a version of the log. Requests that arrive together share one reading. */
  async at(version: string): Promise<ReadonlyMap<string, ToolCallRow>> {
    const reading = this.#reading.then(() => this.#readTo(version))
    this.#reading = reading.catch(() => {})
    return await reading
  }

  async #readTo(version: string): Promise<ReadonlyMap<string, ToolCallRow>> {
    if (this.#version === version) return this.#rows
    this.#rows = this.#version === undefined ? await this.#all() : await this.#changed()
    this.#version = version
    return this.#rows
  }

  async #all(): Promise<Map<string, ToolCallRow>> {
    const rows = new Map<string, ToolCallRow>()
    let after: ToolCallCursor | undefined
    while (rows.size < this.#mostCalls) {
      const limit = Math.min(pageSize, this.#mostCalls - rows.size)
      const page = await this.#list({ order: 'descending', limit, ...(after && { after }) })
      for (const row of page) rows.set(row.callToken, row)
      after = page.at(-1)
      if (page.length < limit) break
    }
    return rows
  }

  /** A finished row never changes, so only new rows and unfinished ones can differ. */
  async #changed(): Promise<Map<string, ToolCallRow>> {
    const rows = new Map(this.#rows)
    let newestMs = -Infinity
    for (const row of this.#rows.values()) {
      newestMs = Math.max(newestMs, row.startedAtMs)
      if (row.finishedAtMs !== null) continue
      const [now] = await this.#list({ callToken: row.callToken, limit: 1 })
      if (now === undefined) rows.delete(row.callToken)
      else rows.set(now.callToken, now)
    }
    const startedFromMs = newestMs - slackMs
    let after: ToolCallCursor | undefined
    for (;;) {
      const page = await this.#list({ startedFromMs, limit: pageSize, ...(after && { after }) })
      for (const row of page) rows.set(row.callToken, row)
      after = page.at(-1)
      if (page.length < pageSize) break
    }
    const [run] = (await this.#log.listRuns?.({ runId: this.#runId, limit: 1 })) ?? []
    const isWhole = run === undefined || run.calls === rows.size
    // Rows were removed, or a clock is wrong by more than the slack.
    if (!isWhole && run.calls <= this.#mostCalls) return await this.#all()
    return rows.size > this.#mostCalls ? await this.#all() : rows
  }

  async #list(query: Parameters<ToolCallLog['list']>[0]): Promise<ToolCallRow[]> {
    return await this.#log.list({
      runId: this.#runId,
      contentsUpTo: summarizedContents,
      ...query,
    })
  }
}

const pageSize = 5000

/** Processes on other machines may be so far behind with their clocks. Milliseconds. */
const slackMs = 60_000
