import { inspect } from 'node:util'
import { isProxy } from 'node:util/types'
import { SmithersError } from '@smithers/tool-core'

/**
 * What code from elsewhere threw, as an error: errors as they are, anything else described. Not even reading it may
 * throw, or the call would be left without an ending in the log.
 */
export function errorOf(thrown: unknown, toolName: string): Error {
  if (!isProxy(thrown) && thrown instanceof Error) return thrown
  return new SmithersError('TOOL_FAILED', `Tool "${toolName}" threw ${described(thrown)}`, {
    details: { toolName },
  })
}

// Without hooks of the value's own.
function described(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown
  return inspect(thrown, {
    depth: 1,
    customInspect: false,
    getters: false,
    maxStringLength: 1000,
    maxArrayLength: 10,
    breakLength: Infinity,
  })
}
