import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import {
  createToolContext,
  createToolRun,
  defineTool,
  runWithToolContext,
  type ToolRun,
} from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { type AgentResult, type AiSdkMajor, aiSdkMajors } from '../fixtures/ai-sdk-majors.ts'
import type { Turn } from '../fixtures/scripted-model.ts'

const marker = '[smithers:tool-resume-warning]'
const turns: Turn[] = [[{ id: 'c', tool: 'pay', input: { to: 'ann' } }]]

interface Receipt {
  readonly id: string
}

/** What a tool may return, and whether AI SDK 5 says enough of it for every binding. */
const shapes = {
  text: () => 'ch_1',
  number: () => 7,
  nothing: () => undefined,
  object: () => ({ id: 'ch_1' }),
  'shared object': (() => {
    const receipt: Receipt = Object.freeze({ id: 'ch_1' })
    return () => receipt
  })(),
  list: () => [{ id: 'ch_1' }],
}
type Shape = keyof typeof shapes

function payTools(shape: Shape) {
  const pay = defineTool({
    name: 'pay',
    schema: z.object({ to: z.string() }),
    sideEffect: true,
    idempotent: false,
    acceptsContext: true,
    execute: async (): Promise<unknown> => shapes[shape](),
  })
  return { pay }
}

type Drive = AiSdkMajor['generate']

/** Every way to give a call its context. */
const bindings: Readonly<
  Record<string, (run: ToolRun, drive: Drive, shape: Shape) => Promise<AgentResult>>
> = {
  'run.tools': (run, drive, shape) => drive(run.tools(payTools(shape)), turns),
  runWithToolContext: (run, drive, shape) =>
    runWithToolContext(run.context, () => drive(payTools(shape), turns)),
  'run.with': (run, drive, shape) => run.with(() => drive(payTools(shape), turns)),
  'the context of the agent': (run, drive, shape) => drive(payTools(shape), turns, run),
}

/** What AI SDK 5 hands over does not say whose it is: a text or a number has no identity. */
function isUnseen(major: number, binding: string, shape: Shape): boolean {
  const hasIdentity = typeof shapes[shape]() === 'object'
  return major === 5 && binding === 'the context of the agent' && !hasIdentity
}

describe.each(aiSdkMajors)('the note of a repeated call in AI SDK $major', (sdk) => {
  const cases = Object.keys(bindings).flatMap((binding) =>
    (Object.keys(shapes) as Shape[]).flatMap((shape) =>
      (['generate', 'stream'] as const).map((way) => ({ binding, shape, way })),
    ),
  )

  test.each(cases.filter(({ binding, shape }) => !isUnseen(sdk.major, binding, shape)))(
    'reaches the model by $binding with $shape in $way',
    async ({ binding, shape, way }) => {
      const log = createMemoryLog()
      const attempt = (number: number) => {
        const run = createToolRun({ runId: 'r', attempt: number, log })
        return bindings[binding]?.(run, sdk[way], shape)
      }
      expect((await attempt(1))?.shown).not.toContain(marker)
      const second = await attempt(2)
      expect(second?.shown.split(marker)).toHaveLength(2)
      expect(second?.shown).toContain(log.snapshot()[0]?.idempotencyKey)
      expect(second?.outputs).toEqual([shapes[shape]()])
      // What a program gets of an output that many calls share stays without a note.
      expect((await bindings[binding]?.(createToolRun(), sdk[way], shape))?.shown).not.toContain(
        marker,
      )
    },
  )

  test('is replaced by the warning of the run where it cannot be had', async () => {
    const unseen = (Object.keys(shapes) as Shape[]).filter((shape) =>
      isUnseen(sdk.major, 'the context of the agent', shape),
    )
    expect(unseen).toEqual(sdk.major === 5 ? ['text', 'number', 'nothing'] : [])
    for (const shape of unseen) {
      const log = createMemoryLog()
      const by = bindings['the context of the agent']
      await by?.(createToolRun({ runId: 'r', log }), sdk.generate, shape)
      const run = createToolRun({ runId: 'r', attempt: 2, log })
      expect(await run.messages([{ role: 'user', content: 'go' }])).toMatchObject([
        {},
        { role: 'user', content: expect.stringContaining('pay {"to":"ann"}') },
      ])
    }
  })

  test('comes before what a toModelOutput of the tool makes', async () => {
    const log = createMemoryLog()
    const toModelOutput = vi.fn<() => { type: 'text'; value: string }>(() => ({
      type: 'text',
      value: 'paid',
    }))
    const own = defineTool({
      name: 'pay',
      schema: z.object({ to: z.string() }),
      sideEffect: true,
      idempotent: false,
      acceptsContext: true,
      execute: async () => ({ id: 'ch_1' }),
      toModelOutput,
    })
    const shown = []
    for (const attempt of [1, 2]) {
      const context = createToolContext({ runId: 'r', attempt, log })
      shown.push((await runWithToolContext(context, () => sdk.generate({ pay: own }, turns))).shown)
    }
    expect(shown[0]).toContain('"value":"paid"')
    expect(shown[1]).toMatch(/\[smithers:tool-resume-warning\].*paid"/)
  })

  test('is not shown to a run at the same time whose call has the same id', async () => {
    const log = createMemoryLog()
    await sdk.generate(createToolRun({ runId: 'r', log }).tools(payTools('text')), turns)
    const [again, other] = await Promise.all([
      sdk.generate(createToolRun({ runId: 'r', attempt: 2, log }).tools(payTools('text')), turns),
      sdk.generate(payTools('text'), turns, createToolRun({ runId: 's', attempt: 2, log })),
    ])
    expect(again.shown).toContain(marker)
    expect(other.shown).not.toContain(marker)
  })
})

describe.each(aiSdkMajors)('an output that is not JSON in AI SDK $major', (sdk) => {
  const cycle: Record<string, unknown> = { id: 'a' }
  cycle['self'] = cycle

  test.each([
    ['a BigInt', { cents: 5n }, 'cents'],
    ['a cycle', cycle, 'self'],
    [
      'a toJSON that throws',
      {
        toJSON: () => {
          throw new Error('no')
        },
      },
      'described',
    ],
  ])('does not end the agent for %s, and says so', async (_what, output, part) => {
    const log = createMemoryLog()
    const pay = defineTool({
      name: 'pay',
      schema: z.object({ to: z.string() }),
      execute: async (): Promise<unknown> => output,
    })
    for (const way of ['generate', 'stream'] as const) {
      const { shown } = await sdk[way](createToolRun({ log }).tools({ pay }), turns)
      expect(shown).toContain('This output is not JSON')
      expect(shown).toContain(part)
    }
    expect(log.snapshot().map(({ status }) => status)).toEqual(['success', 'success'])
  })
})
