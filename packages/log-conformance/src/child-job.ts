/** The moments of a call at which a process can die. */
export const crashPoints = [
  'before the start',
  'after the start',
  'after the effect',
  'after the finish',
] as const

export type CrashPoint = (typeof crashPoints)[number]

/** What another process can be asked to do. */
export type ChildJob =
  | { readonly kind: 'owner-id' }
  | {
      readonly kind: 'pairs'
      readonly location: string
      readonly nodeId: string
      readonly pairs: number
    }
  | {
      readonly kind: 'claims'
      /** What each start claims: its key, or an approval. */
      readonly by: 'key' | 'approval'
      readonly location: string
      readonly worker: number
      readonly keys: number
      readonly effectsFile: string
    }
  | {
      readonly kind: 'crash'
      readonly location: string
      readonly runId: string
      /** Null to continue until another process kills this one. */
      readonly killAt: { readonly point: CrashPoint; readonly call: number } | null
      readonly effectsFile: string
      readonly startedFile: string
      readonly finishedFile: string
    }
  | {
      readonly kind: 'claim-runs'
      readonly location: string
      readonly runs: number
      /** Of a process that outlives this one, so that no run is that of a dead process. */
      readonly ownerId: string
      readonly heldFile: string
    }
  | {
      readonly kind: 'run-until-killed'
      readonly location: string
      readonly runId: string
      readonly finishedFile: string
    }
  | { readonly kind: 'recover'; readonly location: string; readonly nowMs: number }
  | { readonly kind: 'first-call'; readonly location: string; readonly nodeId: string }

/** What the process answers to each kind of job. */
export interface ChildAnswers {
  readonly 'owner-id': string
  readonly pairs: { readonly errors: readonly string[]; readonly longestBlockMs: number }
  readonly claims: void
  readonly 'claim-runs': void
  readonly 'run-until-killed': never
  readonly crash: never
  readonly recover: number
  readonly 'first-call': void
}

/** What is handed to the program. */
export interface ChildOrder {
  readonly processModule: string
  readonly job: ChildJob
}
