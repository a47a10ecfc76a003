import { DBOS } from '@dbos-inc/dbos-sdk'
import { approvalFor, type ToolCallOptions } from '@smithers/tool-core'
import { CallIds } from './call-ids.ts'
import type { GatedCalls } from './gated-calls.ts'
import { lastOf } from './last-of.ts'
import { isStepError, type StepError, stepError } from './step-error.ts'

/** What carries out a call of a tool. */
export type Execute = (args: unknown, options: ToolCallOptions) => unknown

/** What the steps need of their run. */
interface RunOfSteps {
  readonly gated: GatedCalls
  /** The run must stop, because of something that concerns more than one call. */
  readonly hasEnded: () => boolean
  /** Ends the workflow with an error. */
  readonly end: (error: unknown) => void
}

/** The calls of one agent, each a step of the workflow. */
export class CallSteps {
  readonly #run: RunOfSteps
  readonly #needApproval: object
  readonly #ids = new CallIds()

  constructor(tools: Readonly<Record<string, unknown>>, run: RunOfSteps) {
    this.#run = run
    this.#needApproval = approvalFor(tools)
  }

  /** Makes a call in a step. Not async: DBOS numbers steps in the order in which they are begun. */
  call(name: string, execute: Execute, args: unknown, given: ToolCallOptions): Promise<unknown> {
    const { gated, end } = this.#run
    const toolCallId = this.#ids.next(given.toolCallId)
    const options = { ...given, toolCallId }
    const needsApproval = Object.hasOwn(this.#needApproval, name)
    const thrown = new WeakMap<StepError, unknown>()
    const step = DBOS.runStep(
      async () => {
        try {
          if (needsApproval) return await gated.execute(name, args, options)
          return await lastOf(execute(args, options))
        } catch (error) {
          if (isEngineError(error)) throw error
          const recorded = stepError(error, this.#run.hasEnded() || gated.endedRun(error))
          thrown.set(recorded, error)
          throw recorded
        }
      },
      { name: `tool ${name} ${toolCallId}`, retriesAllowed: false },
    )
    return step.catch((error: unknown) => {
      const ofTool = isStepError(error)
      const cause = ofTool ? (thrown.get(error) ?? error) : error
      // What is no error of the tool is one of DBOS: the model must not be told that the tool has failed.
      if (!ofTool || error.endsRun) end(cause)
      throw cause
    })
  }
}

function isEngineError(error: unknown): boolean {
  return error instanceof Error && 'dbosErrorCode' in error
}
