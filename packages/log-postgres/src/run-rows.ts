import type { AttemptRow, LoopRow, RunRow, TaskRow } from '@smithers/tool-core/log'
import type { ColumnsOf } from './columns.ts'

export const runColumns: ColumnsOf<RunRow> = {
  runId: ['run_id', 'text'],
  workflow: ['workflow', 'text'],
  status: ['status', 'text'],
  inputJson: ['input_json', 'text'],
  optionsJson: ['options_json', 'text'],
  errorJson: ['error_json', 'text'],
  startedAtMs: ['started_at_ms', 'integer'],
  finishedAtMs: ['finished_at_ms', 'integer'],
  ownerId: ['owner_id', 'text'],
  leaseToken: ['lease_token', 'text'],
  leaseExpiresAtMs: ['lease_expires_at_ms', 'integer'],
}

export const taskColumns: ColumnsOf<TaskRow> = {
  runId: ['run_id', 'text'],
  nodeId: ['node_id', 'text'],
  iteration: ['iteration', 'integer'],
  taskId: ['task_id', 'text'],
  outputName: ['output_name', 'text'],
  status: ['status', 'text'],
  attempt: ['attempt', 'integer'],
  outputJson: ['output_json', 'text'],
  errorJson: ['error_json', 'text'],
  startedAtMs: ['started_at_ms', 'integer'],
  finishedAtMs: ['finished_at_ms', 'integer'],
  finishOrder: ['finish_order', 'integer'],
}

export const attemptColumns: ColumnsOf<AttemptRow> = {
  runId: ['run_id', 'text'],
  nodeId: ['node_id', 'text'],
  iteration: ['iteration', 'integer'],
  attempt: ['attempt', 'integer'],
  status: ['status', 'text'],
  startedAtMs: ['started_at_ms', 'integer'],
  finishedAtMs: ['finished_at_ms', 'integer'],
  errorJson: ['error_json', 'text'],
}

export const loopColumns: ColumnsOf<LoopRow> = {
  runId: ['run_id', 'text'],
  loopId: ['loop_id', 'text'],
  iteration: ['iteration', 'integer'],
  finished: ['finished', 'boolean'],
}
