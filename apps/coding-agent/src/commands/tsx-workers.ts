import { dirname } from 'node:path'
import type { Command } from 'commander'
import { workflowPath } from '../workflow/load-workflow.ts'
import { ProgramGuard } from '../workflow/program-guard.ts'
import { registerTsxHooks } from '../workflow/tsx-hooks.ts'

/**
 * Lets `smithers worker` take `.tsx` and `.jsx`, as `smithers up` does. A file of a workflow's project that was created or
 * changed after the worker began is not executed: its own tools may have written it.
 */
export function letWorkersReadTsx(program: Command): void {
  const worker = program.commands.find((command) => command.name() === 'worker')
  if (worker === undefined) return
  worker.hook('preAction', (_program, { args }) => {
    const guards = args.map((file) => {
      const path = workflowPath(file)
      const guard = new ProgramGuard(path, dirname(path), undefined)
      guard.begin()
      return guard
    })
    registerTsxHooks({
      check(path, source) {
        for (const guard of guards) guard.check(path, source)
      },
    })
  })
}
