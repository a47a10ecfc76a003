import type { WorkflowEvent } from '@smithers/workflow'
import { isPaused } from '@smithers/cli/src/runs/paused-run.ts'
import { describeError } from '@smithers/cli/src/errors/describe-error.ts'
import { duration } from '@smithers/cli/src/terminal/call-line.ts'
import type { LiveLines } from './live-lines.ts'
import { printable } from '@smithers/cli/src/terminal/printable.ts'
import type { Colors } from '@smithers/cli/src/terminal/terminal.ts'

type EventOf<Type extends WorkflowEvent['type']> = Extract<WorkflowEvent, { readonly type: Type }>

/** Prints the events of a workflow, one line per task. */
export class WorkflowEventLines {
  readonly #lines: LiveLines
  readonly #colors: Colors
  readonly #facts: { readonly file: string; readonly logPath: string; readonly resumeWith: string }
  readonly #taskStarts = new Map<string, number>()

  constructor(
    lines: LiveLines,
    colors: Colors,
    facts: { readonly file: string; readonly logPath: string; readonly resumeWith: string },
  ) {
    this.#lines = lines
    this.#colors = colors
    this.#facts = facts
  }

  print(event: WorkflowEvent): void {
    const { yellow, dim } = this.#colors
    switch (event.type) {
      case 'run-start':
        return this.#runStart(event)
      case 'task-start':
        return this.#taskStart(event)
      case 'attempt-start':
        if (!event.warned) return
        return this.#lines.line(
          yellow(
            `! ${taskName(event)}  attempt ${event.attempt}: the agent is warned of what may have happened before`,
          ),
        )
      case 'text':
        return this.#lines.line(
          dim(printable(`      “${event.text.trim().replaceAll('\n', '\n       ')}”`)),
        )
      case 'repair':
        return this.#say(`↺ ${taskName(event)}  repair ${event.repair}: ${event.problem}`)
      case 'attempt-error':
        return this.#attemptError(event)
      case 'task-end':
        return this.#taskEnd(event)
      case 'task-error':
        return this.#taskError(event)
      case 'loop-iteration':
        return this.#say(`↻ ${event.loopId}  iteration ${event.iteration}`)
      case 'run-error':
        // For a paused run, how to decide and resume is printed at the end.
        if (isPaused(event.error)) return
        return this.#lines.line(`\nResume with: ${this.#facts.resumeWith}`)
      default:
    }
  }

  #say(text: string): void {
    this.#lines.line(printable(text))
  }

  #runStart(event: EventOf<'run-start'>): void {
    const { bold, dim } = this.#colors
    const tasks = event.finishedTasks === 1 ? 'task' : 'tasks'
    const resumed = event.resumed ? `  resumed, ${event.finishedTasks} ${tasks} done` : ''
    this.#lines.line(`${bold(printable(event.runId))}  ${printable(this.#facts.file)}${resumed}`)
    this.#lines.line(dim(`log  ${printable(this.#facts.logPath)}`))
  }

  #taskStart(event: EventOf<'task-start'>): void {
    const begun = performance.now()
    const name = taskName(event)
    this.#taskStarts.set(name, begun)
    this.#lines.start(
      name,
      () => `▸ ${name}  ${this.#colors.dim(duration(performance.now() - begun))}`,
    )
  }

  #attemptError(event: EventOf<'attempt-error'>): void {
    if (isPaused(event.error)) return
    const next = event.retryInMs === null ? '' : `; retrying in ${duration(event.retryInMs)}`
    const problem = `${describeError(event.error)}${next}`
    this.#lines.line(
      this.#colors.red(printable(`✗ ${taskName(event)}  attempt ${event.attempt}: ${problem}`)),
    )
  }

  #taskEnd(event: EventOf<'task-end'>): void {
    const { green, bold, dim } = this.#colors
    const name = taskName(event)
    const now = performance.now()
    const took = duration(now - (this.#taskStarts.get(name) ?? now))
    this.#lines.end(name, `${green('✓')} ${bold(name)}  ${dim(took)}`)
  }

  #taskError(event: EventOf<'task-error'>): void {
    const { yellow, red, bold } = this.#colors
    const name = taskName(event)
    const line = isPaused(event.error)
      ? `${yellow('‖')} ${bold(name)}  waits for approval`
      : `${red('✗')} ${bold(name)}`
    this.#lines.end(name, line)
  }
}

function taskName({ nodeId, iteration }: { nodeId: string; iteration: number }): string {
  return printable(iteration === 0 ? nodeId : `${nodeId} #${iteration}`)
}
