import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { jsonOutput } from '@smithers/cli'
import { createWorker, enqueueWorkflow, listWorkers } from '@smithers/worker'
import { createPostgresLog } from '@smithers/log-postgres'
import type pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  connectionString,
  env,
  home,
  missing,
  openQueue as openTestQueue,
  reason,
} from './fixtures/queue.ts'
import { hold, note } from './fixtures/programs/worker-workflows.ts'
import { runSmithers, startSmithers } from './fixtures/smithers-process.ts'
import { temporaryFolder } from './fixtures/temporary-folder.ts'

const program = join(import.meta.dirname, 'fixtures/programs/worker-workflows.ts')

function openQueue(queue: string) {
  return {
    ...openTestQueue(queue),
    worker(name: string) {
      const worker = startSmithers(['worker', program, '--queue', queue, '--name', name], { env })
      onTestFinished(async () => {
        worker.kill('SIGKILL')
        await worker.outcome
      })
      return worker
    },
  }
}

/** The line of `smithers runs` about a run, and its document. */
async function shown(runId: string): Promise<{ line: string; document: unknown }> {
  const [text, json] = await Promise.all([
    runSmithers(['runs', '--limit', '1000'], { env }),
    runSmithers(['runs', '--limit', '1000', '--json'], { env }),
  ])
  const line = text.stdout.split('\n').find((row) => row.startsWith(`${runId} `)) ?? ''
  const documents = json.stdout
    .trimEnd()
    .split('\n')
    .map((row) => JSON.parse(row) as { readonly runId: string })
  const document = documents.find((one) => one.runId === runId)
  expect(jsonOutput.parse(document)).toEqual(document)
  return { line, document }
}

describe.skipIf(missing !== undefined)(`smithers worker${reason}`, () => {
  test('takes the runs of the workflows that a file exports; SIGTERM drains it, and its runs go back', async () => {
    const { enqueue, worker, lines, status, file, pool } = openQueue('drained')
    await enqueue('hold', 'drained')
    const before = await shown('drained')
    expect(before.line).toMatch(/ no worker for hold$/)
    expect(before.document).toMatchObject({
      queue: { name: 'drained', definition: 'hold', worker: null, hasWorker: false },
    })
    const first = worker('first')
    await expect.poll(lines).toEqual(['begun'])
    const taken = await shown('drained')
    expect(taken.line).toMatch(/ first$/)
    expect(taken.document).toMatchObject({
      state: 'running',
      queue: { worker: 'first', hasWorker: true },
    })
    first.kill('SIGTERM')
    const { exitCode, stderr } = await first.outcome
    expect(exitCode).toBe(0)
    expect(stderr).toContain('first takes runs of hold, note from postgres')
    expect(await status('drained')).toBe('queued')
    expect((await listWorkers({ pool })).filter(({ queue }) => queue === 'drained')).toEqual([])
    // A finished task is not run again by the next one.
    worker('second')
    writeFileSync(`${file}.go`, '')
    await expect.poll(lines).toEqual(['begun', 'ended'])
    await expect.poll(() => status('drained')).toBe('finished')
    expect((await shown('drained')).document).not.toHaveProperty('queue')
  })

  test('a second SIGTERM ends it at once, and its run goes on elsewhere', async () => {
    const { enqueue, worker, lines, status, file, pool } = openQueue('aborted')
    await enqueue('hold', 'aborted')
    const first = worker('aborted')
    await expect.poll(lines).toEqual(['begun'])
    // While this holds, the drain cannot put its run back.
    const client = await pool.connect()
    try {
      await client.query('BEGIN; LOCK TABLE _smithers_queue IN ACCESS EXCLUSIVE MODE')
      first.kill('SIGTERM')
      await expect.poll(() => status('aborted')).toBe('queued')
      expect(await livesUnder('aborted', pool)).toBe(true)
      first.kill('SIGTERM')
      expect(await first.outcome).toMatchObject({ exitCode: null, signal: 'SIGTERM' })
      // It did not sign off.
      expect(await livesUnder('aborted', pool)).toBe(true)
    } finally {
      await client.query('ROLLBACK')
      client.release()
    }
    writeFileSync(`${file}.go`, '')
    const log = await createPostgresLog({ connectionString })
    const next = await createWorker({
      pool,
      log,
      workflows: { hold, note },
      queue: 'aborted',
      leaseMs: 500,
      sweepMs: 100,
    })
    await expect.poll(lines).toEqual(['begun', 'ended'])
    await next.stop()
    await log.close()
  })
})

describe.skipIf(missing !== undefined)(`the options of smithers worker${reason}`, () => {
  test('--json prints one document an event, and --schema names another log', async () => {
    const { pool, file, lines } = openQueue('json')
    const schema = 'cli_worker_json'
    await enqueueWorkflow({ pool, schema, definition: 'note', runId: 'json', input: { file } })
    const args = ['worker', program, '--schema', schema, '--name', 'blue', '--json']
    // Its queue is that of the schema too.
    const queued = await runSmithers(['runs', '--schema', schema], { env })
    expect(queued.stdout).toMatch(/^json .* no worker for note$/m)
    const worker = startSmithers(args, { env })
    let printed = ''
    worker.stdout.on('data', (text: string | Buffer) => (printed += String(text)))
    onTestFinished(async () => {
      worker.kill('SIGKILL')
      await worker.outcome
    })
    await expect.poll(() => printed).toContain('"run-finished"')
    expect(lines()).toEqual(['noted'])
    worker.kill('SIGTERM')
    const { exitCode, stdout, stderr } = await worker.outcome
    expect([exitCode, stderr]).toEqual([0, ''])
    // Both forms name the same log.
    const named = new URL(connectionString)
    named.searchParams.set('schema', schema)
    const listed = await runSmithers(['runs', '--log', named.href, '--json'], { env })
    expect(JSON.parse(listed.stdout)).toMatchObject({ runId: 'json', state: 'finished' })
    const documents = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly event: string })
    for (const document of documents) expect(jsonOutput.parse(document)).toEqual(document)
    expect(documents.map(({ event }) => event)).toEqual([
      'ready',
      'run-started',
      'run-finished',
      'draining',
      'ended',
    ])
    expect(documents[0]).toMatchObject({
      worker: 'blue',
      schema,
      queue: 'default',
      definitions: ['hold', 'note'],
    })
    expect(documents[2]).toMatchObject({ worker: 'blue', runId: 'json' })
  })

  test('are checked before it takes runs', async () => {
    const args = ['worker', program, '--queue', 'no spaces']
    const { exitCode, stderr } = await runSmithers(args, { env })
    expect(exitCode).toBe(2)
    expect(stderr).toContain('queue must be 1 to 40 letters')
  })
})

async function livesUnder(name: string, pool: pg.Pool): Promise<boolean> {
  const { rows } = await pool.query('SELECT FROM _smithers_workers WHERE name = $1', [name])
  return rows.length > 0
}

describe('smithers worker, before it works', () => {
  const url = 'postgres://me:s3cret-word@127.0.0.1:1/db'

  test.for<[string, string[], RegExp]>([
    ['a log that is a file', [program, '--log', 'calls.db'], /needs a log in PostgreSQL/],
    ['a file that is missing', ['no.ts', '--log', url], /no workflow at no\.ts/],
    ['a file without a workflow', ['empty.mjs', '--log', url], /exports no workflow/],
    ['a file that Node cannot read', ['a.tsx', '--log', url], /Node cannot read a\.tsx/],
  ])('refuses %s', async ([, args, message]) => {
    const cwd = temporaryFolder()
    writeFileSync(join(cwd, 'empty.mjs'), 'export const empty = {}')
    writeFileSync(join(cwd, 'a.tsx'), 'export const a = <p />')
    const { exitCode, stdout, stderr } = await runSmithers(['worker', ...args], { cwd, env: home })
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toMatch(message)
    expect(stderr).not.toContain('s3cret-word')
  })

  test('fails without the password when the database does not answer', async () => {
    const { exitCode, stderr } = await runSmithers(['worker', program, '--log', url], { env: home })
    expect(exitCode).toBe(1)
    expect(stderr).toContain('The worker cannot go on')
    expect(stderr).not.toContain('s3cret-word')
  })

  test('names the command that installs the missing package', async () => {
    const cwd = temporaryFolder()
    writeFileSync(
      join(cwd, 'without-worker.mjs'),
      `import { registerHooks } from 'node:module'
       registerHooks({ resolve(specifier, context, next) {
         if (specifier !== '@smithers/worker') return next(specifier, context)
         throw Object.assign(new Error('missing'), { code: 'ERR_MODULE_NOT_FOUND' })
       } })`,
    )
    const { exitCode, stderr } = await runSmithers(['worker', program, '--log', url], {
      env: { ...home, NODE_OPTIONS: `--import=${join(cwd, 'without-worker.mjs')}` },
    })
    expect(exitCode).toBe(2)
    expect(stderr).toContain('npm install @smithers/worker @smithers/workflow')
  })
})
