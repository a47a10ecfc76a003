import { expect, test } from 'vitest'
import pg from 'pg'
import { pendingApprovals, resolveToolApproval } from '@smithers/tool-core'
import { startAgent } from './fixtures/agent-process.ts'
import { describeWithServer, openLog, prepareTrial, sdks } from './fixtures/trial.ts'

describeWithServer('two equal calls that need approval', () => {
  test.for(sdks)(
    'run once each when the process is killed while they wait, and they are approved while no worker lives, with SDK %i',
    async (sdk) => {
      await using trial = await prepareTrial(sdk, 'approvals')
      const { payments, settings } = trial
      const first = startAgent(sdk, settings)
      const log = await openLog(sdk)
      const { workflowId: runId } = settings
      await expect.poll(() => pendingApprovals({ log, runId })).toHaveLength(2)
      first.child.kill('SIGKILL')
      await first.ended
      const waiting = await pendingApprovals({ log, runId })
      expect(waiting.map(({ toolCallId }) => toolCallId).toSorted()).toEqual(['1', '2'])
      for (const { id } of waiting) await resolveToolApproval({ log, id, approved: true })
      expect(payments.charges).toEqual([])
      const { result, stderr } = await trial.run()
      expect(result, stderr).toBeDefined()
      expect(payments.charges).toEqual(['ann', 'ann'])
      expect(new Set(payments.keys).size).toBe(2)
    },
  )

  test('run once each with arguments that JSON cannot hold', async () => {
    await using trial = await prepareTrial(5, 'big-approvals')
    const { payments, settings } = trial
    const agent = startAgent(5, settings)
    const log = await openLog(5)
    const { workflowId: runId } = settings
    await expect.poll(() => pendingApprovals({ log, runId })).toHaveLength(2)
    for (const { id } of await pendingApprovals({ log, runId })) {
      await resolveToolApproval({ log, id, approved: true })
    }
    const { result, stderr } = await agent.ended
    expect(result, stderr).toBeDefined()
    expect(payments.charges).toEqual(['ann', 'ann'])
    expect(new Set(payments.keys).size).toBe(2)
  })

  test('never run in a workflow that was cancelled while they waited', async () => {
    await using trial = await prepareTrial(5, 'approvals')
    const { payments, settings } = trial
    const { workflowId: runId, schema, connectionString } = settings
    const agent = startAgent(5, settings)
    const log = await openLog(5)
    await expect.poll(() => pendingApprovals({ log, runId })).toHaveLength(2)
    const pool = new pg.Pool({ connectionString, max: 1 })
    const table = `"${schema}".workflow_status`
    const values = [runId]
    await pool.query({
      text: `UPDATE ${table} SET status = 'CANCELLED' WHERE workflow_uuid = $1`,
      values,
    })
    await pool.end()
    for (const { id } of await pendingApprovals({ log, runId })) {
      await resolveToolApproval({ log, id, approved: true })
    }
    const { result } = await agent.ended
    expect(result).toBeUndefined()
    expect(payments.charges).toEqual([])
  })

  test('run while the process waits, and the model reads that one was rejected', async () => {
    await using trial = await prepareTrial(5, 'approvals')
    const { payments, settings } = trial
    const agent = startAgent(5, settings)
    const log = await openLog(5)
    const { workflowId: runId } = settings
    await expect.poll(() => pendingApprovals({ log, runId })).toHaveLength(2)
    await resolveToolApproval({ log, runId, id: '1', approved: false, comment: 'Once is enough.' })
    await resolveToolApproval({ log, runId, id: '2', approved: true })
    const { result, stderr } = await agent.ended
    expect(result, stderr).toBeDefined()
    expect(payments.charges).toEqual(['ann'])
    expect(result?.text).toContain('Once is enough.')
  })
})
