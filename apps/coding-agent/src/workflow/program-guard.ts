import { createHash } from 'node:crypto'
import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import type { ProgramFiles } from '@smithers/workflow'
import { isBeneath } from '@smithers/cli/src/sandbox/root-directory.ts'
import { badInput } from '@smithers/cli/src/errors/command-failure.ts'

/** What a run recorded of its program in an earlier process. */
export interface RecordedProgram {
  readonly files: ProgramFiles
  /** When the run began. Milliseconds since the epoch. */
  readonly startedAtMs: number
}

/**
 * Checks each file of a workflow's program before this process executes it.
 *
 * Guarantees, for files in the root and in the workflow's project: a file that the run has already loaded is loaded again
 * only with the same content, and a file that it has not yet loaded only if it has not changed since the run began. What
 * is hashed is what is executed.
 *
 * Does not protect against changes of packages outside the root, or of files that the program reads without importing
 * them.
 */
export class ProgramGuard {
  readonly #rootDir: string
  readonly #projectDir: string
  readonly #files = new Map<string, string>()
  readonly #recorded: ProgramFiles
  readonly #recordedHashes: ReadonlySet<string>
  readonly #workflowFile: string
  #beganAtMs: number | null

  /** @param recorded Undefined for a new run, and for a run whose changes the user has accepted. */
  constructor(workflowFile: string, rootDir: string, recorded: RecordedProgram | undefined) {
    this.#rootDir = realpathSync(rootDir)
    this.#projectDir = projectOf(realpathSync(workflowFile))
    this.#recorded = recorded?.files ?? {}
    this.#recordedHashes = new Set(Object.values(this.#recorded))
    this.#workflowFile = workflowFile
    this.#beganAtMs = recorded?.startedAtMs ?? null
  }

  /** The files loaded so far. */
  get files(): ProgramFiles {
    return Object.fromEntries(this.#files)
  }

  /**
   * Stops a resume with a question, before anything is loaded.
   *
   * @throws CommandFailure when a recorded file has changed or is gone.
   */
  assertUnchanged(runId: string): void {
    const changed = Object.entries(this.#recorded).filter(
      // A workflow file that has only moved is the same.
      ([path, hash]) => hashOf(readFileSync(existsSync(path) ? path : this.#workflowFile)) !== hash,
    )
    if (changed.length === 0) return
    const paths = changed.map(([path]) => (existsSync(path) ? path : `${path} (missing)`))
    throw badInput(
      `The workflow of run ${runId} has changed since the run began: ${paths.join(', ')}. Was it you? Look at the changes; to resume with them, add --accept-changed-workflow.`,
    )
  }

  /** From now on tools may run: a file loaded later must not have been changed by them. */
  begin(): void {
    this.#beganAtMs ??= Date.now()
  }

  /** Checks a file and notes it. Throws when it must not be executed. */
  check(path: string, source: string | NodeJS.ArrayBufferView): void {
    if (!this.#covers(path)) return
    const hash = hashOf(source)
    const known = this.#files.get(path) ?? this.#recorded[path]
    const isUnchanged =
      known === undefined
        ? this.#beganAtMs === null ||
          this.#recordedHashes.has(hash) ||
          statSync(path).ctimeMs < this.#beganAtMs
        : known === hash
    if (!isUnchanged) {
      throw new Error(
        `${path} was created or changed after the run began, perhaps by its own tools, and would be executed outside the sandbox. If the change is yours, resume with --accept-changed-workflow.`,
      )
    }
    this.#files.set(path, hash)
  }

  #covers(path: string): boolean {
    if (isBeneath(this.#rootDir, path)) return true
    return isBeneath(this.#projectDir, path) && !path.split(sep).includes('node_modules')
  }
}

function hashOf(source: string | NodeJS.ArrayBufferView): string {
  return createHash('sha256').update(source).digest('hex')
}

/** The nearest folder above a file with a package.json or a .git, or the file's own folder. */
function projectOf(file: string): string {
  const folder = dirname(file)
  for (let current = folder; ; current = dirname(current)) {
    if (['package.json', '.git'].some((name) => existsSync(join(current, name)))) return current
    if (dirname(current) === current) return folder
  }
}
