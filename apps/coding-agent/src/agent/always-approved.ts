import type { ApprovalDecision, ApprovalRequest } from '@smithers/tool-core'
import { isHostApproval } from '@smithers/tool-core'

/** What the user approved for all of a run, while this process works on it. A resume asks again. */
export class AlwaysApproved {
  readonly #tools = new Set<string>()
  readonly #runs = new Set<string>()

  /** Approves a tool, or every tool, for the run of a call. */
  add({ runId, toolName }: ApprovalRequest['approval'], what: 'tool' | 'run'): void {
    if (what === 'run') this.#runs.add(runId)
    else this.#tools.add(JSON.stringify([runId, toolName]))
  }

  /**
   * The decision on a call; undefined for one that the user must be asked about. A host is not covered by the approval of
   * the tool whose command asks for it.
   */
  decisionOn(
    { approval, problem }: Pick<ApprovalRequest, 'approval' | 'problem'>,
    decidedBy: string,
  ): ApprovalDecision | undefined {
    const { runId, toolName } = approval
    const isCovered = this.#runs.has(runId) || this.#tools.has(JSON.stringify([runId, toolName]))
    if (!isCovered || problem !== undefined || isHostApproval(approval)) return undefined
    return { approved: true, decidedBy, comment: 'approved for the whole run' }
  }
}
