import type { ExportFormat } from '../api/exported-run.ts'
import type { SessionResponse } from '../api/session.ts'
import type { LogReader } from '../reading/log-reader.ts'
import { readRun } from '../reading/read-run.ts'
import { exportedPage } from './exported-page.ts'
import { exportedRows } from './exported-rows.ts'
import { exportedRun } from './exported-run.ts'
import { otlpOf } from './otlp.ts'

/** A run as a file. */
export interface ExportedFile {
  readonly name: string
  readonly type: string
  /** Read from the log as it is taken, so that a run of any size needs little memory. */
  readonly content: ReadableStream<Uint8Array>
}

/** Whether a text names a format. */
export function isExportFormat(format: string): format is ExportFormat {
  return format === 'jsonl' || format === 'html' || format === 'otlp'
}

/** Writes a run as a file; undefined for a run that the log does not know. */
export async function exportRun(
  reader: LogReader,
  runId: string,
  format: ExportFormat,
  session: SessionResponse,
): Promise<ExportedFile | undefined> {
  const run = await readRun(reader, runId)
  if (run === undefined) return undefined
  if (format === 'html') {
    const content = streamOf(exportedPage(exportedRun(reader, run, session)))
    return { name: fileName(runId, 'html'), type: 'text/html', content }
  }
  const pages = exportedRows(reader, run)
  if (format === 'jsonl') {
    const content = streamOf(jsonLines(pages))
    return { name: fileName(runId, 'jsonl'), type: 'application/x-ndjson', content }
  }
  const content = streamOf(otlpOf(pages, reader.nowMs()))
  return { name: fileName(runId, 'otlp.json'), type: 'application/json', content }
}

async function* jsonLines(pages: AsyncIterable<readonly unknown[]>): AsyncGenerator<string> {
  for await (const rows of pages) yield rows.map((row) => `${JSON.stringify(row)}\n`).join('')
}

/** The next part is made when the one before has been taken, and none after the reader has gone. */
function streamOf(parts: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await parts.next()
        if (done === true) controller.close()
        else controller.enqueue(encoder.encode(value))
      },
      async cancel() {
        await parts.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
}

/** A run's id may hold any character; the name of a file may not. */
function fileName(runId: string, ending: string): string {
  const name = runId
    .replaceAll(/[^\w.-]+/g, '-')
    .replace(/^[.-]+/, '')
    .slice(0, 80)
  return `${name === '' ? 'run' : name}.${ending}`
}
