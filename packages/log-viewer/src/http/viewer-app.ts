import { Hono } from 'hono'
import type { Context } from 'hono'
import type { ApiError } from '../api/api-error.ts'
import { isExportFormat, exportRun } from '../export/export-run.ts'
import { readApprovals } from '../reading/read-approvals.ts'
import { readCall } from '../reading/read-call.ts'
import type { LogReader } from '../reading/log-reader.ts'
import { readCalls, readRun, readTimeline } from '../reading/read-run.ts'
import { readRuns } from '../reading/read-runs.ts'
import { searchCalls } from '../search/search-calls.ts'
import { decide } from './decide.ts'
import { type Refusal, refuseStrangers, refuseWithoutToken, securityHeaders } from './guards.ts'
import { pageDocument, pageFiles, pageIcon } from '../page-files.ts'
import { readJsonBody } from './read-json-body.ts'
import { sessionOf } from './session.ts'
import type { ViewerSettings } from './viewer-settings.ts'
import { ChangeWatch } from './wait-for-change.ts'

/** Answers requests for the page and for its data. */
export function viewerApp(reader: LogReader, settings: ViewerSettings): Hono {
  const app = new Hono()
  app.use('*', async (context, next) => {
    const isDocument = context.req.method === 'GET' && context.req.path === '/'
    const refusal = refuseStrangers(context.req.raw.headers, settings.hosts, isDocument)
    const answer = refusal && refuse(context, refusal)
    if (answer === undefined) await next()
    else context.res = answer
    for (const [name, value] of Object.entries(securityHeaders))
      context.res.headers.set(name, value)
  })
  app.use('/api/*', async (context, next) => {
    const refusal = refuseWithoutToken(context.req.raw.headers, settings.token)
    if (refusal !== undefined) return refuse(context, refusal)
    return await next()
  })
  addPage(app)
  addReadings(app, reader, settings)
  addDecisions(app, reader, settings)
  app.notFound((context) => refuse(context, notFound('There is nothing at this address.')))
  // Never the error itself: it may hold what the log holds.
  app.onError((_error, context) =>
    refuse(context, {
      status: 503,
      code: 'LOG_UNAVAILABLE',
      message:
        'The log, or a file of the page, could not be read. Try again, or start the viewer anew.',
    }),
  )
  return app
}

function addPage(app: Hono): void {
  app.get('/', (context) => context.html(pageDocument))
  app.get('/page.js', (context) => typed(context, 'text/javascript', pageFiles().script))
  app.get('/page.css', (context) => typed(context, 'text/css', pageFiles().style))
  app.get('/icon.svg', (context) => typed(context, 'image/svg+xml', pageIcon))
}

function addReadings(app: Hono, reader: LogReader, settings: ViewerSettings): void {
  const watch = new ChangeWatch(reader)

  app.get('/api/session', (context) => context.json(sessionOf(reader, settings)))
  app.get('/api/runs', async (context) => {
    const { runId, cursor } = context.req.query()
    return context.json(await readRuns(reader, { runId, cursor, limit: limitOf(context, 50, 200) }))
  })
  app.get('/api/timeline', async (context) => {
    const { runId } = context.req.query()
    const timeline = await readTimeline(reader, { runId, limit: limitOf(context, 100, 1000) })
    return timeline.run === null && runId !== undefined
      ? refuse(context, notFound('The log has no such run.'))
      : context.json(timeline)
  })
  app.get('/api/run', async (context) => {
    const run = await readRun(reader, context.req.query('runId') ?? '')
    return run === undefined
      ? refuse(context, notFound('The log has no such run.'))
      : context.json(run)
  })
  app.get('/api/calls', async (context) => {
    const { runId = '', cursor } = context.req.query()
    const from = numberOf(context, 'from', 0, Number.MAX_SAFE_INTEGER)
    const limit = limitOf(context, 200, 1000)
    return context.json(await readCalls(reader, { runId, cursor, from, limit }))
  })
  app.get('/api/call', async (context) => {
    const version = await reader.version()
    const call = await readCall(reader, context.req.query('callToken') ?? '', settings)
    return call === undefined
      ? refuse(context, notFound('The log has no such call.'))
      : context.json({ call, version })
  })
  app.get('/api/search', async (context) => {
    const { q: query = '', runId, cursor } = context.req.query()
    const limit = limitOf(context, 100, 200)
    return context.json(await searchCalls(reader, { query, runId, cursor, limit }))
  })
  app.get('/api/approvals', async (context) =>
    context.json(await readApprovals(reader, context.req.query('runId'))),
  )
  app.get('/api/changes', async (context) => {
    const { since } = context.req.query()
    const waitMs = since === undefined ? 0 : longestWaitMs
    const version = await watch.until(since ?? '', waitMs, context.req.raw.signal)
    return context.json({ version, changed: version !== since, nowMs: reader.nowMs() })
  })
  app.get('/api/export', async (context) => {
    const { runId = '', format = '' } = context.req.query()
    if (!isExportFormat(format)) return refuse(context, invalid('format is jsonl, html or otlp.'))
    const file = await exportRun(reader, runId, format, sessionOf(reader, settings))
    if (file === undefined) return refuse(context, notFound('The log has no such run.'))
    context.header('Content-Disposition', `attachment; filename="${file.name}"`)
    return context.body(file.content, 200, { 'Content-Type': `${file.type}; charset=utf-8` })
  })
}

function addDecisions(app: Hono, reader: LogReader, settings: ViewerSettings): void {
  app.post('/api/approvals/decide', async (context) => {
    if (!settings.canDecide) {
      return refuse(context, {
        status: 403,
        code: 'FORBIDDEN',
        message: 'Decisions are not allowed here. Start the viewer with --decide.',
      })
    }
    const body = await readJsonBody(context.req.raw, longestBodyBytes)
    if (!body.ok) return refuse(context, body.refusal)
    const decided = await decide(reader, body.value, settings.decidedBy)
    return decided.ok ? context.json(decided.response) : refuse(context, decided.refusal)
  })
}

const longestWaitMs = 25_000
const longestBodyBytes = 1024 * 1024

function typed(context: Context, type: string, body: string): Response {
  return context.body(body, 200, { 'Content-Type': `${type}; charset=utf-8` })
}

function refuse(context: Context, { status, code, message }: Refusal): Response {
  return context.json({ error: { code, message } } satisfies ApiError, status)
}

function notFound(message: string): Refusal {
  return { status: 404, code: 'NOT_FOUND', message }
}

function invalid(message: string): Refusal {
  return { status: 400, code: 'INVALID_REQUEST', message }
}

function limitOf(context: Context, usual: number, most: number): number {
  return numberOf(context, 'limit', 1, most) ?? usual
}

/** A whole number of the query, moved into its bounds; undefined for anything else. */
function numberOf(context: Context, name: string, least: number, most: number): number | undefined {
  const text = context.req.query(name)
  if (text === undefined || !/^\d{1,15}$/.test(text)) return undefined
  return Math.min(most, Math.max(least, Number(text)))
}
