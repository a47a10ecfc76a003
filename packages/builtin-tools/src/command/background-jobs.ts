import { onRunEnd, SmithersError, type ToolContext } from '@smithers/tool-core'
import type { BackgroundJob } from './background-job.ts'

/** Commands that one attempt may have running; the calls outside runs together. */
const maxRunning = 16

/** Ended commands outside runs whose output waits to be read; of more, the oldest are forgotten. */
const maxUnread = 32

/** The background commands of all attempts that use the same tools. */
export class BackgroundJobs {
  readonly #ofAttempts = new Map<string, Map<string, BackgroundJob>>()

  /**
   * Starts a command and keeps it. Counts it at once, so that calls made together do not pass the limit together.
   *
   * @throws SmithersError `TOOL_LIMIT_REACHED` when the attempt has too many
   */
  start(ctx: ToolContext, create: () => BackgroundJob): BackgroundJob {
    this.#refuseTooMany(ctx)
    const key = attemptOf(ctx)
    const jobs = this.#ofAttempts.get(key) ?? this.#begin(key)
    const job = create()
    jobs.set(job.id, job)
    // Outside a run nothing says when the agent is done with it.
    if (ctx.ephemeral) void job.ended.then(() => forgetOldest(jobs))
    return job
  }

  /** @throws SmithersError `INVALID_INPUT` for an id that the attempt does not know */
  get(ctx: ToolContext, id: string): BackgroundJob {
    const job = this.#ofAttempts.get(attemptOf(ctx))?.get(id)
    if (job !== undefined) return job
    const known = namesOf(ctx, this.#of(ctx))
    const advice = ctx.ephemeral
      ? 'Outside a run, one is also forgotten when its end has been read.'
      : known.length === 0
        ? 'None was started here. Start one with bash and background: true.'
        : `Those of this run are ${known.join(', ')}.`
    throw new SmithersError(
      'INVALID_INPUT',
      `No background command has the id ${JSON.stringify(id)}: they end with their run and its process. ${advice}`,
      { details: { id, known }, effect: 'none' },
    )
  }

  forget(ctx: ToolContext, { id }: BackgroundJob): void {
    this.#ofAttempts.get(attemptOf(ctx))?.delete(id)
  }

  /** Forgets a command that has been read to its end. In a run it can be read again until the run ends. */
  forgetRead(ctx: ToolContext, job: BackgroundJob): void {
    if (ctx.ephemeral) this.forget(ctx, job)
  }

  /** The jobs of an attempt that has none, until its run ends. */
  #begin(key: string): Map<string, BackgroundJob> {
    const jobs = new Map<string, BackgroundJob>()
    this.#ofAttempts.set(key, jobs)
    onRunEnd(() => {
      const ended = Array.from(jobs.values(), (job) => job.ended)
      void Promise.all(ended).then(() => this.#ofAttempts.delete(key))
    })
    return jobs
  }

  #refuseTooMany(ctx: ToolContext): void {
    const running = this.#of(ctx).filter(({ isRunning }) => isRunning)
    if (running.length < maxRunning) return
    const names = namesOf(ctx, running)
    const which = names.length === 0 ? '' : `: ${names.join(', ')}`
    throw new SmithersError(
      'TOOL_LIMIT_REACHED',
      `${running.length} commands run in the background, which is the limit. End one with bash_kill${which}.`,
      { details: { limit: maxRunning }, effect: 'none' },
    )
  }

  #of(ctx: ToolContext): readonly BackgroundJob[] {
    return [...(this.#ofAttempts.get(attemptOf(ctx))?.values() ?? [])]
  }
}

/** The ids that an agent may read. Those outside runs may be of another agent. */
function namesOf({ ephemeral }: ToolContext, jobs: readonly BackgroundJob[]): readonly string[] {
  return ephemeral ? [] : jobs.map(({ id }) => id)
}

function forgetOldest(jobs: Map<string, BackgroundJob>): void {
  const ended = [...jobs.values()].filter(({ isRunning }) => !isRunning)
  for (const { id } of ended.slice(0, Math.max(0, ended.length - maxUnread))) jobs.delete(id)
}

/** Calls outside runs share one, for each has a random run of its own. */
function attemptOf({ ephemeral, runId, nodeId, iteration, attempt }: ToolContext): string {
  return ephemeral ? '' : JSON.stringify([runId, nodeId, iteration, attempt])
}
