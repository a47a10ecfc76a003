import { z } from 'zod'

const text = z.string()
const texts = z.array(text)
const milliseconds = z.number().describe('milliseconds since the epoch')
const value = z.unknown()
const maybe = <Schema extends z.ZodType>(schema: Schema): z.ZodNullable<Schema> => schema.nullable()

const call = z.object({
  type: z.literal('call'),
  runId: text,
  nodeId: text.describe('the task that made the call'),
  iteration: z.number().describe('of its loop, from 0'),
  attempt: z.number().describe('from 1'),
  seq: z.number().describe('position in the attempt, from 1'),
  toolName: text,
  outcome: z.enum(['ok', 'replayed', 'refused', 'failed', 'running', 'unknown']),
  code: maybe(text).describe('of the error'),
  message: maybe(text).describe('of the error: what the model read'),
  durationMs: maybe(z.number()),
  input: value.describe('the arguments as logged; `$patch` with `recordContents`'),
  output: value.describe('as logged; null when there is none'),
  error: value.describe('the whole error as logged, or null'),
  status: z.enum(['started', 'success', 'error']),
  startedAtMs: milliseconds,
  finishedAtMs: maybe(milliseconds),
  callToken: text.describe('unique'),
  toolCallId: maybe(text).describe("the model's id of the call"),
  idempotencyKey: maybe(text),
  inputHash: maybe(text).describe('SHA-256 of the whole arguments'),
  occurrence: z.number().describe('which of several identical calls, from 0'),
  sideEffect: z.boolean(),
  idempotent: z.boolean(),
  effect: maybe(z.enum(['none', 'partial', 'applied', 'unknown'])),
  effectScope: maybe(text).optional().describe('`workspace` or `external`'),
  ownerId: maybe(text).describe('the process that ran it'),
  leaseExpiresAtMs: maybe(milliseconds),
  claim: maybe(text),
  replayOf: maybe(text).describe('the callToken whose output was returned'),
  fromCache: z.boolean().optional(),
  outputExact: z.boolean().optional().describe('`output` is whole'),
  approvalId: maybe(text).optional(),
  network: value.optional().describe('what its commands asked of the network'),
  traceId: maybe(text),
  spanId: maybe(text),
})

const waits = z.array(
  z.object({
    approvalId: text,
    nodeId: text,
    toolName: text,
    question: text,
    approve: text.describe('the command that approves it'),
    reject: text,
  }),
)

const queueOfRun = z.object({
  name: text,
  definition: text.describe('the name under which workers know the workflow'),
  worker: maybe(text).describe('that has it, or had it and died'),
  hasWorker: z.boolean().describe('false when no live worker knows the definition'),
  priority: z.number(),
  failures: z.number().describe('since a task last finished'),
  lastError: value,
  runAtMs: milliseconds.describe('not before this time; milliseconds since the epoch'),
})

const run = z.object({
  type: z.literal('run'),
  runId: text,
  workflow: maybe(text),
  status: text.describe('as recorded'),
  state: text.describe('as it is now: also `interrupted`, `waiting`, `decided`'),
  input: value,
  options: value.describe('what a resume inherits'),
  error: value,
  startedAtMs: milliseconds,
  finishedAtMs: maybe(milliseconds),
  ownerId: maybe(text),
  leaseExpiresAtMs: maybe(milliseconds),
  tasks: z.number(),
  finishedTasks: z.number(),
  queue: queueOfRun
    .optional()
    .describe(
      'of a run in a queue: `name`, `definition`, `worker`, `hasWorker` (false when no live worker knows the definition), `priority`, `failures`, `lastError`, `runAtMs`',
    ),
})

const explanation = run
  .omit({ type: true, tasks: true, finishedTasks: true, queue: true })
  .partial()
  .extend({
    type: z.literal('explanation'),
    runId: text,
    text: text.describe('the explanation'),
    waits,
    tasks: z.array(value).optional().describe('of a workflow'),
    blocked: z
      .array(z.object({ nodeId: text, toolName: text, key: text }))
      .optional()
      .describe('calls that were not repeated, with the keys for `--allow`'),
    resume: maybe(text)
      .optional()
      .describe('the command that resumes the run, where the program has one'),
  })

const approval = z.object({
  type: z.literal('approval'),
  id: text,
  runId: text,
  nodeId: text,
  iteration: z.number(),
  attempt: z.number(),
  toolName: text,
  toolCallId: text,
  callKey: text,
  inputHash: text,
  idempotencyKey: maybe(text),
  input: value.describe('the arguments as logged'),
  inputSchema: value.describe('JSON Schema of the arguments'),
  prompt: maybe(text),
  defaults: value.describe("the author's proposal"),
  preview: value.describe('what the call would do: a text, or `{ patch }`'),
  status: z.enum(['pending', 'approved', 'rejected', 'expired', 'superseded', 'used']),
  requestedAtMs: milliseconds,
  expiresAtMs: maybe(milliseconds),
  decidedAtMs: maybe(milliseconds),
  decidedBy: maybe(text),
  comment: maybe(text),
  approvedArgs: value.describe("in place of the agent's"),
})

const enforced = z.record(text, z.unknown())

const exec = z.object({
  type: z.literal('exec'),
  command: text,
  args: texts,
  rootDir: text,
  status: z.enum(['exited', 'timeout', 'aborted', 'killed', 'spawn-error', 'refused']),
  exitCode: maybe(z.number()),
  signal: maybe(text),
  durationMs: z.number(),
  output: text.describe('both streams in order; the middle of long ones is left out'),
  stdout: text,
  stderr: text,
  omittedBytes: z.number(),
  enforced: enforced.describe('what the operating system enforced'),
  violations: z.array(value),
  seesNetwork: z.boolean().describe('whether `network` lists what it asked for'),
  network: z.object({ decisions: z.array(value), omitted: z.number() }).optional(),
  leftBehind: z.boolean().optional().describe('it left processes, which were ended'),
  hint: text.optional(),
  error: maybe(z.object({ code: text, message: text })),
})

const doctor = z.object({
  type: z.literal('doctor'),
  backend: text,
  enforced,
  notEnforced: z.array(z.object({ what: text, why: text, fix: text })),
  limitations: z.array(value),
  network: text.describe('the mode that was tried'),
  guard: text.describe('of files'),
  networkByHost: z.object({ works: z.boolean(), why: maybe(text) }),
  versions: z.record(text, maybe(text)),
})

const prune = z.object({
  type: z.literal('prune'),
  calls: z.number().describe('removed'),
  workflowRuns: z.number().describe('removed'),
  kept: texts.describe('named runs that stayed, because a process works on them'),
  dryRun: z.boolean().optional().describe('of `db prune`: whether it only counted'),
})

const archive = z.object({
  type: z.literal('archive'),
  runs: z.number().describe('moved'),
  calls: z.number().describe('moved'),
  isBusy: z.boolean().describe('another process archives, and the rest was left to it'),
})

const dropArchived = z.object({
  type: z.literal('drop-archived'),
  partitions: texts.describe('the months that were removed, oldest first'),
  runs: z.number().describe('of which nothing is left'),
})

const worker = z.object({
  type: z.literal('worker'),
  event: z
    .enum(['ready', 'run-started', 'run-finished', 'run-left', 'problem', 'draining', 'ended'])
    .describe(
      '`run-left`: the run stopped, failed or waits, and may go on; `problem`: it will be tried again; the others as they say',
    ),
  atMs: milliseconds,
  worker: maybe(text).describe('its name; null before it is ready without `--name`'),
  log: text.optional().describe('of `ready`, without its password'),
  queue: text.optional().describe('of `ready`'),
  schema: text.optional().describe('of `ready`'),
  definitions: texts.optional().describe('of `ready`: the workflows that it takes'),
  runId: text.optional().describe('of `run-…`'),
  workflow: maybe(text).optional().describe('of `run-started`'),
  resumed: z.boolean().optional().describe('of `run-started`: it began earlier'),
  code: maybe(text).optional().describe('of `run-left`: of the error'),
  message: text.optional().describe('of `run-left` and `problem`'),
})

const database = z.object({
  type: z.literal('database'),
  log: text.describe('without its password'),
  schema: text,
  schemaVersion: z.number(),
  serverVersion: text,
  totalBytes: z.number(),
  tables: z.array(value),
  archivePartitions: z.array(value),
  openCalls: z.number(),
  oldestOpenCall: maybe(value),
  oldestLease: maybe(value),
})

const errorCode = z.object({
  type: z.literal('error-code'),
  code: text,
  meaning: text,
  advice: text,
})

/**
 * Every document that a command of this package prints with `--json`, by its `type`. Fields may be added; none is removed
 * or changes its meaning.
 */
export const jsonOutput: z.ZodType = z.discriminatedUnion('type', [
  call.extend({
    earlierOfKey: z.array(call).optional().describe('`show` only: calls with the same key'),
  }),
  run,
  explanation,
  approval,
  exec,
  doctor,
  prune,
  archive,
  dropArchived,
  worker,
  database,
  errorCode,
])
