import { existsSync } from 'node:fs'
import { beforeEach, describe, expect, test } from 'vitest'
import type { IsolationBackend } from '../../src/isolation/backend.ts'
import { createBubblewrap } from '../../src/isolation/bubblewrap/backend.ts'
import { createLandlock } from '../../src/isolation/confine/landlock.ts'
import { createNamespaces } from '../../src/isolation/confine/namespaces.ts'
import { createNoIsolation } from '../../src/isolation/none.ts'
import { attackRows } from '../fixtures/attack-rows.ts'
import { tryAttacks } from '../fixtures/attack-table.ts'

const byDesign = [
  'METADATA_VISIBLE',
  'PROCESS_LIST_VISIBLE',
  'DENIED_NAMES_READABLE',
  'PROTECTED_NAMES_WATCHED',
  'NO_TEMPORARY_LIMIT',
]
/** What each backend lets through; `pnpm bench attacks` prints the whole table. */
const columns: readonly (readonly [string, IsolationBackend, readonly string[]])[] = [
  ['namespaces', createNamespaces(), []],
  ['bubblewrap', createBubblewrap(), []],
  ['landlock', createLandlock(), byDesign],
  [
    'landlock without a judge',
    createLandlock({ vets: false }),
    [...byDesign, 'METADATA_CHANGEABLE'],
  ],
]

describe.skipIf(process.platform !== 'linux')('the table of attacks', () => {
  beforeEach(({ skip }) => skip(!existsSync('/usr/bin/python3'), 'python3 is not installed'))

  test.for(columns)('by %s: what is open is reported', async ([name, backend, open], { skip }) => {
    const { usable } = await backend.probe()
    skip(!usable, `${name} does not work on this machine`)
    const cells = [...(await tryAttacks(backend))].filter(([, { worked }]) => worked.length > 0)
    const unreported = cells.filter(([, { reported }]) => reported === null)
    expect(unreported.map(([row, { worked }]) => [row, worked])).toEqual([])
    expect(new Set(cells.map(([, { reported }]) => reported))).toEqual(new Set(open))
  })

  test('has attacks in every row that work where nothing confines them', async () => {
    const column = await tryAttacks(createNoIsolation())
    for (const { row, attacks } of attackRows) {
      // An ordinary user may not do some of them anyway.
      const expected = process.geteuid?.() === 0 ? attacks.length : 1
      expect([row, column.get(row)?.worked.length]).toEqual([
        row,
        expect.toSatisfy((count: number) => count >= expected),
      ])
    }
  })
})
