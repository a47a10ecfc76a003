import { type BuiltinTools, createBuiltinTools, tools } from '@smithers/builtin-tools'
import { createToolRun } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'

type Tools = Pick<BuiltinTools, 'read' | 'write' | 'edit' | 'grep' | 'bash'>

/** The built-in tools as a program gets them from a run: with their defaults, and journaled. */
export interface RunTools {
  readonly usual: Tools
  /** The same, except that writes do not wait for the disk. */
  readonly relaxed: Tools
  /** Begins another run with an empty log, as an agent's would be. */
  renew(): void
}

export function toolsOfRuns(rootDir: string): RunTools {
  const relaxed = createBuiltinTools({ files: { durability: 'relaxed' } })
  let runs = 0
  const begin = (): { usual: Tools; relaxed: Tools } => {
    runs += 1
    const run = createToolRun({ runId: `run-${runs}`, rootDir, log: createMemoryLog() })
    return { usual: run.tools(tools), relaxed: run.tools(relaxed) }
  }
  let current = begin()
  return {
    get usual() {
      return current.usual
    },
    get relaxed() {
      return current.relaxed
    },
    renew() {
      current = begin()
    },
  }
}

let calls = 0

/** The options of the next call, as the AI SDK passes them. */
export function nextCall(): { toolCallId: string; messages: [] } {
  calls += 1
  return { toolCallId: `call_${calls}`, messages: [] }
}
