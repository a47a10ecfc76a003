import type { Workshop } from './workshop.ts'

/** One row of the table: a runtime, bundler or compiler with an app that uses the packages. */
export interface Row {
  /** What `pnpm check:runtimes NAME` takes; a prefix takes all rows that begin with it. */
  readonly name: string
  /** What a user types in the app; the same that `check` runs. */
  readonly command: string
  /**
   * Builds and runs the app.
   *
   * @returns the version that was checked, and what happened, as the table says it
   * @throws Error when the app does anything else
   */
  check(workshop: Workshop): Promise<Checked>
}

/** What a row that passed says. */
export interface Checked {
  /** The runtime, bundler or compiler with its version. */
  readonly what: string
  readonly result: string
}
