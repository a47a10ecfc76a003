import { expect, test } from 'vitest'
import { killInSecondCharge, startAgent } from './fixtures/agent-process.ts'
import { describeWithServer, prepareTrial } from './fixtures/trial.ts'

describeWithServer('runWorkflow in a workflow of DBOS', () => {
  test('charges each once when the process is killed in the second call', async () => {
    await using trial = await prepareTrial(5, 'one-a-turn', 'workflow.ts')
    const { payments, settings } = trial
    const first = startAgent(5, settings, 'workflow.ts')
    killInSecondCharge(first, payments)
    const killed = await first.ended
    expect(killed.signal, killed.stderr).toBe('SIGKILL')
    const { result, stderr } = await trial.run()
    expect(result?.text, stderr).toBe('finished')
    expect(payments.charges).toEqual(['ann', 'bob', 'ann'])
  })
})
