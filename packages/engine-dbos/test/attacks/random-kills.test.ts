import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type AgentProcess, startAgent } from '../fixtures/agent-process.ts'
import { describeWithServer, prepareTrial, type Trial } from '../fixtures/trial.ts'

// `SMITHERS_DBOS_TRIALS=50` makes fifty workflows, each killed up to three times.
const trials = Number(process.env['SMITHERS_DBOS_TRIALS'] ?? 2)

/** A payment takes this long at most. */
const answerMs = 200

interface Kills {
  all: number
  /** The charge had been made, and its answer had not been sent. */
  inCall: number
}

/** Kills a process between the effect of a charge and its answer, at a moment that is random. */
async function killInCall({ payments, settings }: Trial, kills: Kills): Promise<void> {
  const agent = startAgent(5, settings)
  const which = payments.charges.length + 1
  payments.onCharge = async (count) => {
    if (count !== which) return
    await sleep(Math.random() * answerMs)
    await kill(agent, payments.open, kills)
  }
  const { signal, stderr } = await agent.ended
  expect(signal, stderr).toBe('SIGKILL')
}

/** Kills a process at any moment, if it has not ended. */
async function killAnywhere({ payments, settings }: Trial, kills: Kills): Promise<void> {
  payments.onCharge = () => sleep(Math.random() * answerMs)
  const agent = startAgent(5, settings)
  await Promise.race([agent.ended, sleep(300 + Math.random() * 1200)])
  await kill(agent, payments.open, kills)
}

async function kill({ child, ended }: AgentProcess, open: number, kills: Kills): Promise<void> {
  child.kill('SIGKILL')
  const { signal } = await ended
  if (signal !== 'SIGKILL') return
  kills.all += 1
  if (open > 0) kills.inCall += 1
}

describeWithServer('workflows whose processes are killed at random moments', () => {
  test(
    `charge each once (${trials} workflows)`,
    { timeout: 240_000 + trials * 30_000 },
    async () => {
      const kills: Kills = { all: 0, inCall: 0 }
      for (let count = 0; count < trials; count += 1) {
        const shape = count % 2 === 0 ? 'one-a-turn' : 'three-at-once'
        await using trial = await prepareTrial(5, shape)
        await killInCall(trial, kills)
        for (let tries = 0; tries < 2; tries += 1) await killAnywhere(trial, kills)
        const { result, stderr } = await trial.run()
        expect(result, stderr).toBeDefined()
        const { charges, keys } = trial.payments
        expect(charges.toSorted(), trial.settings.workflowId).toEqual(['ann', 'ann', 'bob'])
        expect(new Set(keys).size).toBe(3)
      }
      expect(kills.inCall).toBeGreaterThanOrEqual(trials)
      if (trials > 2)
        console.log(`${trials} workflows, ${kills.all} kills, ${kills.inCall} of them in a call`)
    },
  )
})
