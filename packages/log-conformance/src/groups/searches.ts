import assert from 'node:assert/strict'
import type { ToolCallLog, ToolCallRow } from '@smithers/tool-core/log'
import type { ConformanceGroup } from '../conformance-group.ts'
import { failure, mustStart, sampleTimeMs, success } from '../sample-row.ts'
import { browsable, type Browsable, withoutBrowsing } from './browsable.ts'

export const searches: ConformanceGroup = {
  title: '25 search',
  notApplicable: withoutBrowsing,
  tests: [
    {
      name: 'a text is found in every field that is searched, in letters of either case',
      async run({ open }) {
        const log = await browsable(open)
        await searchedCalls(log)
        const found = {
          'NEEDLE-tool': ['1'],
          'needle-TASK': ['2'],
          'needle-key': ['3'],
          'needle-call': ['4'],
          'needle-trace': ['5'],
          'Needle "Input"': ['6'],
          'needle\noutput': ['7'],
          'needle ERROR': ['8'],
          needle: ['1', '2', '3', '4', '5', '6', '7', '8'],
          // No pattern: these have no meaning of their own.
          'needle%output': [],
          needle_output: [],
          Übung: ['6'],
          übung: [],
        }
        for (const [text, expected] of Object.entries(found)) {
          const { rows, next } = await log.search({ texts: [text] })
          assert.deepEqual(tokensOf(rows), expected, text)
          assert.equal(next, null, text)
        }
      },
    },
    {
      name: 'every text must occur, and every filter applies',
      async run({ open }) {
        const log = await browsable(open)
        await searchedCalls(log)
        const search = async (query: Parameters<Browsable['search']>[0]): Promise<string[]> =>
          tokensOf((await log.search(query)).rows)
        assert.deepEqual(await search({ texts: ['needle', 'input'] }), ['6'])
        assert.deepEqual(await search({ texts: ['needle'], status: 'error' }), ['8'])
        assert.deepEqual(await search({ texts: [], nodeId: 'needle-task' }), ['2'])
        assert.deepEqual(await search({ texts: [], runId: 'other' }), ['9'])
        assert.deepEqual(await search({ texts: ['needle'], order: 'descending', limit: 2 }), [
          '8',
          '7',
        ])
        const task = { runId: 'run-1', nodeId: 'node-1', iteration: 0 } as const
        assert.deepEqual(await search({ texts: ['needle'], ...task, attempt: 1 }), [
          '1',
          '3',
          '4',
          '5',
          '6',
          '7',
          '8',
        ])
      },
    },
    {
      name: 'a search looks at so many rows as it is told, and goes on where it stopped',
      async run({ open }) {
        const log = await browsable(open)
        for (let seq = 1; seq <= 20; seq += 1) {
          const toolName = seq % 9 === 0 ? 'rare' : 'frequent'
          await mustStart(log, {
            seq,
            toolName,
            callToken: `t${seq}`,
            startedAtMs: sampleTimeMs + seq,
          })
        }
        for (const order of ['ascending', 'descending'] as const) {
          const pages: string[][] = []
          let after: Parameters<Browsable['search']>[0]['after']
          for (let page = 0; page < 10; page += 1) {
            const answer = await log.search({
              texts: ['RARE'],
              examine: 6,
              order,
              ...(after !== undefined && { after }),
            })
            pages.push(tokensOf(answer.rows))
            if (answer.next === null) break
            after = answer.next
          }
          const expected =
            order === 'ascending' ? [[], ['t9'], ['t18'], []] : [['t18'], ['t9'], [], []]
          assert.deepEqual(pages, expected)
        }
      },
    },
    {
      name: 'contents are cut to the characters asked for, in listings and searches',
      async run({ open }) {
        const log = await browsable(open)
        const token = await mustStart(log, { inputJson: '"a😀cdef"' })
        await log.finish(token, failure({ errorJson: '{"message":"long"}' }))
        for (const [row] of [
          await log.list({ contentsUpTo: 4 }),
          (await log.search({ texts: ['cdef'], contentsUpTo: 4 })).rows,
        ]) {
          assert.equal(row?.inputJson, '"a😀c')
          assert.equal(row?.errorJson, '{"me')
          assert.equal(row?.outputJson, null)
          assert.equal(row?.callToken, token)
        }
        const [whole] = await log.list({})
        assert.equal(whole?.inputJson, '"a😀cdef"')
      },
    },
  ],
}

async function searchedCalls(log: ToolCallLog): Promise<void> {
  const fields: readonly Parameters<typeof mustStart>[1][] = [
    { toolName: 'needle-tool' },
    { nodeId: 'needle-task' },
    { idempotencyKey: 'needle-KEY' },
    { toolCallId: 'needle-call' },
    { traceId: 'needle-trace' },
    { inputJson: JSON.stringify({ text: 'the needle "input", Übung' }) },
    {},
    {},
    { runId: 'other', inputJson: null },
  ]
  for (const [index, given] of fields.entries()) {
    const seq = index + 1
    const at = { seq, callToken: String(seq), startedAtMs: sampleTimeMs + seq }
    await mustStart(log, { ...at, ...given })
  }
  await log.finish('7', success({ outputJson: JSON.stringify('needle\noutput') }))
  await log.finish('8', failure({ errorJson: '{"message":"Needle error"}' }))
}

function tokensOf(rows: readonly ToolCallRow[]): string[] {
  return rows.map(({ callToken }) => callToken)
}
