import type { ToolContext } from '../contract/task-context.ts'
import { SmithersError } from '../errors/smithers-error.ts'
import type { CallRecord } from '../journal/call-record.ts'
import { recordOf } from '../journal/record-network-use.ts'
import type { ApprovalRow, ApprovalStore } from '../log/approval-store.ts'
import { nowOf } from '../log/log-clock.ts'
import { approvalsOf } from './approve-call.ts'
import { decideNow } from './decide-now.ts'
import {
  grantedHost,
  type HostOfCall,
  hostRequest,
  hostSchema,
  isHostApproval,
  useHostApproval,
} from './host-request.ts'
import { expireIfDue } from './record-decision.ts'

/** A connection that a command asks for. */
export interface AskedHost {
  readonly host: string
  readonly port: number
}

/** Whether a connection is approved, and if not, why in one sentence. */
export type HostPermission =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly why: string }

/** What became of the connections that needed approval. */
export interface SettledHosts {
  /** Approved too late for the command, as `host:port`. */
  readonly late: readonly string[]
  /** `TOOL_APPROVAL_REQUIRED`, for the tool to throw: requests are pending, and the run pauses. */
  readonly waits: SmithersError | undefined
}

/**
 * The approvals that the connections of one command need. Each request is one like any other of the run: it survives the
 * process and is decided by `onApproval`, by `resolveToolApproval` or on the command line.
 *
 * *Guarantees*: an approval serves one host and port, in the call that asked for it or, when the approver says so, in the
 * whole run. Without a run, without a log that keeps approvals, and after any failure the answer is no.
 *
 * @example
 * const hosts = new HostApprovals(ctx, 'npm ci')
 * const result = await sandbox.run('npm', ['ci'], { onDecision: async (asked) => (await hosts.approve(asked)).allowed ? 'allow' : 'deny' })
 * const { waits } = await hosts.settle()
 * if (waits) throw waits
 */
export class HostApprovals {
  readonly #ctx: ToolContext
  readonly #command: string
  readonly #answers = new Map<string, Promise<HostPermission>>()
  readonly #waiting = new Map<string, ApprovalRow>()
  readonly #late: string[] = []
  #ended = false

  /** @param command As the approver is to see it. */
  constructor(ctx: ToolContext, command: string) {
    this.#ctx = ctx
    this.#command = command
  }

  /**
   * Whether a connection is approved. Waits while the run's `onApproval` decides; without one, the request stays pending
   * and the answer is no. Never rejects.
   */
  approve({ host, port }: AskedHost): Promise<HostPermission> {
    const name = `${host}:${port}`
    const known = this.#answers.get(name)
    if (known !== undefined) return known
    if (this.#answers.size >= mostHosts) {
      const why = `The command has asked for ${mostHosts} other hosts that need approval, and one call gets no more.`
      return Promise.resolve({ allowed: false, why })
    }
    const answer = this.#ask({ host, port }).catch((error: unknown): HostPermission => {
      const why = error instanceof Error ? error.message : String(error)
      return { allowed: false, why: `Its approval could not be asked for: ${why}` }
    })
    this.#answers.set(name, answer)
    void answer.then(({ allowed }) => this.#ended && allowed && this.#late.push(name))
    return answer
  }

  /**
   * Whether a connection has been approved already, for this call or for the whole run. Asks for nothing. Never rejects: a
   * failure is reported to the run's `onLogError`, and the answer is no.
   */
  async isGranted(asked: AskedHost): Promise<boolean> {
    const record = recordOf(this.#ctx)
    if (record === undefined || this.#ctx.ephemeral) return false
    const { log, policy } = record.journal
    try {
      const request = { ...asked, command: this.#command, row: record.row }
      return (await grantedIn(approvalsOf(log), request, record)).granted !== undefined
    } catch (error) {
      policy.onLogError(error)
      return false
    }
  }

  /**
   * Waits for the questions that are open, and pauses the run when a request is left without a decision. To be called when
   * the command has ended.
   */
  async settle(): Promise<SettledHosts> {
    this.#ended = true
    await Promise.all(this.#answers.values())
    const record = recordOf(this.#ctx)
    const late = this.#late
    if (this.#waiting.size === 0 || record === undefined) return { late, waits: undefined }
    const errors = Array.from(this.#waiting, ([name, row]) => waitsFor([name], [row]))
    for (const error of errors) record.journal.pause.add(error)
    return { late, waits: waitsFor([...this.#waiting.keys()], [...this.#waiting.values()]) }
  }

  async #ask(asked: AskedHost): Promise<HostPermission> {
    const record = recordOf(this.#ctx)
    if (record === undefined || this.#ctx.ephemeral) {
      const why = 'It needs approval, which can only be requested in a run.'
      return { allowed: false, why }
    }
    const store = approvalsOf(record.journal.log)
    const request: HostOfCall = { ...asked, command: this.#command, row: record.row }
    const name = `${asked.host}:${asked.port}`
    for (;;) {
      const answer = await answerOf(store, request, record)
      if (answer.kind === 'decided') {
        this.#waiting.delete(name)
        return answer
      }
      this.#waiting.set(name, answer.pending)
      if (!(await this.#decide(store, answer.pending, request, record))) {
        return { allowed: false, why: pendingText(answer.pending) }
      }
    }
  }

  /** Puts a request to `onApproval`; false when it stays pending. */
  async #decide(
    store: ApprovalStore,
    pending: ApprovalRow,
    { host, port, command }: HostOfCall,
    { journal: { policy, task } }: CallRecord,
  ): Promise<boolean> {
    if (policy.onApproval === undefined) return false
    const definition = { schema: await hostSchema({ host, port }), timeoutMs: undefined }
    const args = { host, port, command, remember: 'call' }
    const context = (): ToolContext => this.#ctx
    try {
      const call = { definition, args, policy, task, context }
      await decideNow(store, pending, call, { defaults: undefined })
      return true
    } catch {
      // Whatever went wrong with the answer, the request is still there.
      return false
    }
  }
}

type HostAnswer =
  | ({ readonly kind: 'decided' } & HostPermission)
  | { readonly kind: 'pending'; readonly pending: ApprovalRow }

/** The approval that allows a connection, marked as used, with what else the log has of its host. */
async function grantedIn(
  store: ApprovalStore,
  request: HostOfCall,
  { journal: { policy, task } }: CallRecord,
): Promise<{
  readonly made: ApprovalRow
  readonly ofHost: readonly ApprovalRow[]
  readonly granted: ApprovalRow | undefined
}> {
  const made = await hostRequest(request, policy.redact, nowOf(task.log))
  const { runId, inputHash, callKey } = made
  const rows = await store.list({ runId, inputHash, limit: Infinity })
  const ofHost = rows.filter(isHostApproval)
  const granted = grantedHost(ofHost, callKey)
  if (granted !== undefined) await useHostApproval(store, granted, policy.onLogError)
  return { made, ofHost, granted }
}

/** What the log says of a connection; makes the request when it says nothing. */
async function answerOf(
  store: ApprovalStore,
  request: HostOfCall,
  record: CallRecord,
): Promise<HostAnswer> {
  const { made, ofHost, granted } = await grantedIn(store, request, record)
  if (granted !== undefined) return { kind: 'decided', allowed: true }
  const latest = ofHost.find((row) => row.callKey === made.callKey)
  const asked = latest ?? (await store.request(made))
  const row = await expireIfDue(store, asked, nowOf(record.journal.task.log))
  if (row.status === 'rejected' || row.status === 'expired') {
    return { kind: 'decided', allowed: false, why: refusalText(row) }
  }
  if (row.status !== 'pending') {
    throw new Error(`approval ${row.id} is ${row.status}`)
  }
  const { toolCallId, attempt } = made
  if (row.attempt !== attempt || row.toolCallId !== toolCallId) {
    await store.update(row.id, 'pending', { toolCallId, attempt })
  }
  return { kind: 'pending', pending: row }
}

function pendingText({ id }: ApprovalRow): string {
  return `It waits for approval ${id}. The run pauses when this call has ended; after the decision, make the same call again.`
}

function refusalText({ status, decidedBy, comment }: ApprovalRow): string {
  if (status === 'expired') return 'It was not approved in time. Work without it.'
  const by = decidedBy === null ? 'It was rejected' : `${decidedBy} rejected it`
  return `${by}: ${comment ?? 'no reason was given'}. Work without it.`
}

function waitsFor(names: readonly string[], rows: readonly ApprovalRow[]): SmithersError {
  const list = names.map((name, index) => `${name} (${rows[index]?.id})`).join(', ')
  const [first] = rows
  return new SmithersError(
    'TOOL_APPROVAL_REQUIRED',
    `The command ran without ${list}: ${names.length === 1 ? 'this connection waits' : 'these connections wait'} for approval. The run pauses here. After the decision, make the same call again.`,
    {
      details: {
        approvalId: first?.id,
        approvals: rows.map(({ id }) => id),
        hosts: names,
        toolName: first?.toolName,
        toolCallId: first?.toolCallId,
      },
    },
  )
}

/** Of one command: each is a question to a person. */
const mostHosts = 16
