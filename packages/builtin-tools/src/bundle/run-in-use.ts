import { getToolContext, onRunEnd } from '@smithers/tool-core'
import type { UserOfShared } from './shared-by-calls.ts'

/** What a run uses, until it ends. */
class RunInUse implements UserOfShared {
  readonly #held = new Set<object>()
  readonly #releases: Set<() => void>

  constructor(releases: Set<() => void>) {
    this.#releases = releases
  }

  hold(value: object, release: () => void): boolean {
    if (this.#held.has(value)) return false
    this.#held.add(value)
    this.#releases.add(release)
    return true
  }

  end(): void {
    this.#held.clear()
    releaseAll(this.#releases)
  }
}

const runs = new WeakMap<object, RunInUse>()

/** Releases what a run has used that was never settled and can be reached no more. */
const forgotten = new FinalizationRegistry<Set<() => void>>(releaseAll)

/** The run whose tool is being called; undefined outside runs. */
export function runInUse(): UserOfShared | undefined {
  const context = getToolContext()
  if (context === undefined || context.ephemeral) return undefined
  const known = runs.get(context)
  if (known !== undefined) return known
  // Apart from the run itself: what is released when it was forgotten must not keep it.
  const releases = new Set<() => void>()
  const run = new RunInUse(releases)
  runs.set(context, run)
  forgotten.register(context, releases)
  onRunEnd(() => {
    runs.delete(context)
    run.end()
  })
  return run
}

function releaseAll(releases: Set<() => void>): void {
  for (const release of releases) release()
  releases.clear()
}
