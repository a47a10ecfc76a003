import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ChildAnswers, ChildJob } from './child-job.ts'
import type { LogConformanceOptions } from './conformance-options.ts'

/** A process that has loaded the adapter and waits. */
export interface WaitingChild<Kind extends ChildJob['kind']> {
  readonly process: ChildProcess
  /** Lets it begin; resolves with its answer, rejects when it ends without one. */
  perform(): Promise<ChildAnswers[Kind]>
  /** Lets it begin; resolves with the signal that ended it, or null. */
  performUntilKilled(): Promise<NodeJS.Signals | null>
}

/** Starts a process for a job; resolves when it is ready to begin. */
export async function startChild<Job extends ChildJob>(
  options: LogConformanceOptions,
  job: Job,
): Promise<WaitingChild<Job['kind']>> {
  const { processModule, execArgv = [] } = options
  if (processModule === undefined && job.kind !== 'owner-id') {
    throw new Error('This test needs other processes. Give the suite `processModule`.')
  }
  const order = { processModule: String(processModule ?? 'node:path'), job }
  const child = fork(program, [JSON.stringify(order)], {
    execArgv: [...execArgv],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  let complaint = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (complaint += text))
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  const ended = exited.then(([code, signal]) => {
    throw new Error(`The process for "${job.kind}" ended with ${signal ?? code}: ${complaint}`)
  })
  // It is a failure only for those who wait for an answer.
  ended.catch(() => {})

  await Promise.race([once(child, 'message'), ended])
  return {
    process: child,
    async perform() {
      const answered = once(child, 'message') as Promise<[{ answer: ChildAnswers[Job['kind']] }]>
      child.send('begin')
      const [{ answer }] = await Promise.race([answered, ended])
      // It waits for this: the news of its end could overtake its answer.
      child.disconnect()
      await exited
      return answer
    },
    async performUntilKilled() {
      child.send('begin')
      const [code, signal] = await exited
      if (signal === null) throw new Error(`The process ended with ${code}: ${complaint}`)
      return signal
    },
  }
}

// Beside this file in the source and in the build, where it is an entry of its own.
const program = fileURLToPath(
  new URL(`./child-process${extname(import.meta.url)}`, import.meta.url),
)

/** Runs one job in a process of its own. */
export async function runChild<Job extends ChildJob>(
  options: LogConformanceOptions,
  job: Job,
): Promise<ChildAnswers[Job['kind']]> {
  return await (await startChild(options, job)).perform()
}

/** Runs jobs in as many processes, which begin together once all are ready. */
export async function runChildrenTogether<Job extends ChildJob>(
  options: LogConformanceOptions,
  jobs: readonly Job[],
): Promise<ChildAnswers[Job['kind']][]> {
  const children = await Promise.all(jobs.map((job) => startChild(options, job)))
  try {
    return await Promise.all(children.map((child) => child.perform()))
  } finally {
    for (const child of children) child.process.kill('SIGKILL')
  }
}
