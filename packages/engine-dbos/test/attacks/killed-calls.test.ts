import { beforeAll, test } from 'vitest'
import { killInSecondCharge, startAgent } from '../fixtures/agent-process.ts'
import type { DieAt } from '../fixtures/dying-log.ts'
import { describeWithServer, prepareTrial, sdks } from '../fixtures/trial.ts'

const shapes = ['one-a-turn', 'three-at-once'] as const
const moments: readonly (readonly [name: string, dieAt: DieAt | 'in-call'])[] = [
  ['in the second call', 'in-call'],
  [
    'once the first call is in our log but not in that of DBOS',
    { moment: 'after-finish', charge: 1 },
  ],
  [
    'once the second call is in our log but not in that of DBOS',
    { moment: 'after-finish', charge: 2 },
  ],
  [
    'once the third call is in our log but not in that of DBOS',
    { moment: 'after-finish', charge: 3 },
  ],
  ['before the third call', { moment: 'before-start', charge: 3 }],
]
const isWhole = process.env['SMITHERS_DBOS_TRIALS'] !== undefined

describeWithServer('a workflow that charges ann, bob and ann again', () => {
  // The first process of an SDK makes the tables of DBOS; two at once would be in each other's way.
  beforeAll(async () => {
    for (const sdk of sdks) {
      await using trial = await prepareTrial(sdk, 'three-at-once')
      const { result, stderr } = await trial.run()
      if (result === undefined) throw new Error(stderr)
    }
  })

  test.concurrent('charges four times without this package', async ({ expect }) => {
    await using trial = await prepareTrial(5, 'one-a-turn')
    const { payments, settings } = trial
    const first = startAgent(5, { ...settings, isPlain: true })
    killInSecondCharge(first, payments)
    await first.ended
    const { result, stderr } = await trial.run({ isPlain: true })
    expect(result, stderr).toBeDefined()
    expect(payments.charges).toEqual(['ann', 'bob', 'bob', 'ann'])
  })

  for (const sdk of sdks) {
    for (const shape of shapes) {
      // The older SDK takes the same path through this package, so the short form kills it at the two hardest moments.
      const tried = sdk === 5 || isWhole ? moments : moments.slice(0, 2)
      test.concurrent.for(tried)(
        `charges each once with SDK ${sdk}, ${shape}, killed %s`,
        async ([, moment], { expect }) => {
          await using trial = await prepareTrial(sdk, shape)
          const { payments, settings } = trial
          const dieAt = moment === 'in-call' ? null : moment
          const first = startAgent(sdk, { ...settings, dieAt })
          if (moment === 'in-call') killInSecondCharge(first, payments)
          const killed = await first.ended
          expect(killed.signal, killed.stderr).toBe('SIGKILL')
          const { result, stderr } = await trial.run()
          expect(result, stderr).toBeDefined()
          expect(payments.charges.toSorted(), JSON.stringify(result)).toEqual(['ann', 'ann', 'bob'])
          expect(new Set(payments.keys).size).toBe(3)
          expect(result?.steps.filter((name) => name.startsWith('tool '))).toEqual([
            'tool charge 1',
            'tool charge 2',
            'tool charge 3',
          ])
          expect(JSON.parse(result?.text ?? '')).toHaveLength(3)
        },
      )
    }

    test.concurrent(`charges each once with SDK ${sdk} when two processes have one executor id`, async ({
      expect,
    }) => {
      await using trial = await prepareTrial(sdk, 'one-a-turn')
      const { payments, settings } = trial
      const reached = Promise.withResolvers<void>()
      const released = Promise.withResolvers<void>()
      payments.onCharge = async (count) => {
        if (count > 1) return
        reached.resolve()
        await released.promise
      }
      const first = startAgent(sdk, settings)
      await reached.promise
      // It keeps the call, and leaves the recovered workflow to the second process.
      first.child.kill('SIGSTOP')
      const second = startAgent(sdk, settings)
      // Without a claim the recovered workflow charges, too.
      await second.said('waits for the holder')
      first.child.kill('SIGCONT')
      released.resolve()
      const ends = await Promise.all([first.ended, second.ended])
      expect(payments.charges).toEqual(['ann', 'bob', 'ann'])
      for (const { result, stderr } of ends)
        expect(result?.text, stderr).toBe(ends[0]?.result?.text)
    })
  }
})
