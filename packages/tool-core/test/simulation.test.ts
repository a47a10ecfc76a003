import { describe, expect, test } from 'vitest'
import { createToolRun, type ToolCallOptions } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { createChargeTool } from './fixtures/charge-tool.ts'
import { type Charge, StripeLikeProvider } from './fixtures/provider.ts'

// Random runs whose worker dies after a random call, and is tried again (docs/specification/durability.md). Ours against the ways in
// which others derive keys: the scenarios must show what those do wrong, or they would not show that ours does not.

const runsPerScenario = 60

interface Call {
  readonly id: string
  readonly charge: Charge
}
type Message = ToolCallOptions['messages'][number]

/** What an attempt does: its calls, and the conversation that it starts from. */
interface Attempt {
  readonly calls: readonly Call[]
  readonly history: readonly Message[]
}
interface Plan {
  readonly intended: readonly Charge[]
  readonly first: Attempt
  readonly crashAfter: number
  readonly second?: Attempt
}

/** A way to make calls with keys; one instance a run. */
interface KeyScheme {
  attempt(number: number): (call: Call, messages: readonly Message[]) => Promise<unknown>
}

const schemes: Record<string, (provider: StripeLikeProvider) => KeyScheme> = {
  ours(provider) {
    const log = createMemoryLog()
    return {
      attempt(number) {
        const run = createToolRun({ runId: 'r', log, attempt: number })
        const { charge } = run.tools({ charge: createChargeTool(provider) })
        return ({ id, charge: args }, messages) =>
          charge.execute(args, { toolCallId: id, messages })
      },
    }
  },
  task: naive(() => 'task'),
  position: naive((_call, position) => `${position}`),
  arguments: naive(({ charge }) => JSON.stringify(charge)),
  toolCallId: naive(({ id }) => id),
  'arguments and a counter that restarts': naive(
    ({ charge }, _position, nth) => `${JSON.stringify(charge)} ${nth}`,
  ),
}

function naive(keyOf: (call: Call, position: number, nth: number) => string) {
  return (provider: StripeLikeProvider): KeyScheme => ({
    attempt() {
      const made: string[] = []
      return async (call) => {
        const text = JSON.stringify(call.charge)
        const key = keyOf(call, made.length, made.filter((other) => other === text).length)
        made.push(text)
        return provider.charge(call.charge, key)
      }
    },
  })
}

const scenarios: Record<string, (random: () => number) => Plan> = {
  'distinct calls, no failure': (random) => {
    const calls = callsFor(distinctCharges(random), 'a')
    return planOf(calls, calls.length)
  },
  'retry, same plan': (random) => {
    const charges = distinctCharges(random)
    return planOf(callsFor(charges, 'a'), crashIn(charges, random), callsFor(charges, 'b'))
  },
  'retry, re-ordered': (random) => {
    const charges = distinctCharges(random)
    const shuffled = shuffle(charges, random)
    return planOf(callsFor(charges, 'a'), crashIn(charges, random), callsFor(shuffled, 'b'))
  },
  'same call twice on purpose, retry re-ordered': (random) => {
    const charges = repeatedCharges(random)
    const shuffled = shuffle(charges, random)
    return planOf(callsFor(charges, 'a'), crashIn(charges, random), callsFor(shuffled, 'b'))
  },
  'resume with history': (random) => {
    const charges = repeatedCharges(random)
    const calls = callsFor(charges, 'a')
    const crashAfter = crashIn(charges, random)
    // The call that was running when the worker died is not in the conversation, so the model makes it again.
    const remembered = calls.slice(0, crashAfter - 1)
    const history = remembered.flatMap(exchangeOf)
    return {
      intended: charges,
      first: { calls, history: [] },
      crashAfter,
      second: { calls: callsFor(charges.slice(crashAfter - 1), 'b'), history },
    }
  },
}

async function simulate(
  schemeName: string,
  scenarioName: string,
): Promise<{ readonly duplicated: number; readonly lost: number }> {
  let duplicated = 0
  let lost = 0
  for (let seed = 1; seed <= runsPerScenario; seed += 1) {
    const provider = new StripeLikeProvider()
    const plan = scenarios[scenarioName]?.(generator(seed)) as Plan
    const scheme = schemes[schemeName]?.(provider) as KeyScheme
    await perform(scheme.attempt(1), plan.first, plan.crashAfter)
    if (plan.second) await perform(scheme.attempt(2), plan.second, Infinity)
    const difference = counted(provider.charges)
    for (const [text, count] of counted(plan.intended)) {
      difference.set(text, (difference.get(text) ?? 0) - count)
    }
    if ([...difference.values()].some((count) => count > 0)) duplicated += 1
    if ([...difference.values()].some((count) => count < 0)) lost += 1
  }
  return { duplicated, lost }
}

/** Makes the calls of an attempt one after the other; those after the crash are never made. */
async function perform(
  make: ReturnType<KeyScheme['attempt']>,
  attempt: Attempt,
  crashAfter: number,
): Promise<void> {
  const messages = [...attempt.history]
  for (const call of attempt.calls.slice(0, crashAfter)) {
    await make(call, messages).catch(() => 'refused')
    messages.push(...exchangeOf(call))
  }
}

describe('our keys', () => {
  test.each(Object.keys(scenarios))('neither repeat nor lose an effect: %s', async (scenario) => {
    expect(await simulate('ours', scenario)).toEqual({ duplicated: 0, lost: 0 })
  })
})

describe('naive keys, as controls', () => {
  test.each([
    ['task', 'distinct calls, no failure', 'lost'],
    ['position', 'retry, re-ordered', 'duplicated'],
    ['position', 'retry, re-ordered', 'lost'],
    ['arguments', 'same call twice on purpose, retry re-ordered', 'lost'],
    ['toolCallId', 'retry, same plan', 'duplicated'],
    ['arguments and a counter that restarts', 'resume with history', 'lost'],
  ] as const)('made from %s fail: %s, %s', async (scheme, scenario, failure) => {
    expect((await simulate(scheme, scenario))[failure]).toBeGreaterThan(0)
  })
})

function planOf(calls: readonly Call[], crashAfter: number, again?: readonly Call[]): Plan {
  return {
    intended: calls.map(({ charge }) => charge),
    first: { calls, history: [] },
    crashAfter,
    ...(again && { second: { calls: again, history: [] } }),
  }
}

function callsFor(charges: readonly Charge[], prefix: string): Call[] {
  return charges.map((charge, index) => ({ id: `${prefix}${index}`, charge }))
}

function exchangeOf({ id, charge }: Call): Message[] {
  const toolName = 'charge'
  return [
    {
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: id, toolName, input: charge }],
    },
    { role: 'tool', content: [{ type: 'tool-result', toolCallId: id, toolName, output: {} }] },
  ]
}

function distinctCharges(random: () => number): Charge[] {
  const count = 2 + Math.floor(random() * 4)
  return Array.from({ length: count }, (_, index) => ({ customer: `c${index}`, amount: 100 }))
}

function repeatedCharges(random: () => number): Charge[] {
  const charges = distinctCharges(random)
  return shuffle([...charges, ...charges.slice(0, 2)], random)
}

/** After which call the worker dies: its effect has happened. */
function crashIn(charges: readonly Charge[], random: () => number): number {
  return 1 + Math.floor(random() * charges.length)
}

function shuffle<Item>(items: readonly Item[], random: () => number): Item[] {
  return items
    .map((item) => [random(), item] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, item]) => item)
}

function counted(charges: readonly Charge[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const charge of charges) {
    const text = JSON.stringify(charge)
    counts.set(text, (counts.get(text) ?? 0) + 1)
  }
  return counts
}

/** A small generator with a seed, so that a failure can be repeated. */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
