import { invalidWorkflow } from '../errors/invalid-workflow.ts'
import type { LoopProps } from './components.ts'
import { describeNode } from './describe-node.ts'
import { assertKnownProps } from './known-props.ts'
import type { LoopNode } from './tree-node.ts'
import { atLeastOne } from './whole-number.ts'

/** Checks the properties of one `<Loop>` and fills in the defaults. The id is null when none is given. */
export function readLoopProps(
  props: LoopProps,
): Omit<LoopNode, 'kind' | 'id' | 'body'> & { readonly id: string | null } {
  assertKnownProps('Loop', props)
  const { id, until, maxIterations = 10, onMaxIterations = 'continue' } = props
  if (id !== undefined && (typeof id !== 'string' || id === '')) {
    throw invalidWorkflow(`<Loop id> must be a non-empty string, got ${JSON.stringify(id)}.`)
  }
  // A condition such as `ctx.outputs.check?.passed` is undefined before its task has run.
  if (until !== null && until !== undefined && typeof until !== 'boolean') {
    throw invalidWorkflow(
      `<Loop until> must be true or false, got ${describeNode(until)}. It is read again each time the children have finished.`,
    )
  }
  if (onMaxIterations !== 'continue' && onMaxIterations !== 'fail') {
    throw invalidWorkflow(
      `<Loop onMaxIterations> must be 'continue' or 'fail', got ${JSON.stringify(onMaxIterations)}.`,
    )
  }
  return {
    id: id ?? null,
    until: until === true,
    maxIterations: atLeastOne('<Loop maxIterations>', maxIterations),
    onMaxIterations,
  }
}
