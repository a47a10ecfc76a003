/**
 * Tries the attacks of the table in docs/isolation.md under every backend that works here, as the user who runs it, and
 * prints what came of them: `pnpm bench attacks`. Without isolation, they show that they are real.
 */
import type { IsolationBackend } from '../src/isolation/backend.ts'
import { createBubblewrap } from '../src/isolation/bubblewrap/backend.ts'
import { createLandlock } from '../src/isolation/confine/landlock.ts'
import { createNamespaces } from '../src/isolation/confine/namespaces.ts'
import { createNoIsolation } from '../src/isolation/none.ts'
import { attackRows } from '../test/fixtures/attack-rows.ts'
import { type AttackColumn, tryAttacks } from '../test/fixtures/attack-table.ts'

const backends: readonly (readonly [string, IsolationBackend])[] = [
  ['without isolation', createNoIsolation()],
  ['namespaces', createNamespaces()],
  ['bubblewrap', createBubblewrap()],
  ['landlock', createLandlock()],
  ['landlock, calls not judged', createLandlock({ vets: false })],
]
const columns = new Map<string, AttackColumn>()
for (const [name, backend] of backends) {
  const { usable, notEnforced } = await backend.probe()
  if (usable) columns.set(name, await tryAttacks(backend))
  else console.log(`without ${name}: ${notEnforced.map(({ why }) => why).join(' ')}\n`)
}

console.log(`As ${process.geteuid?.() === 0 ? 'root' : 'an ordinary user'}:\n`)
console.log(`| the command tries | ${[...columns.keys()].join(' | ')} |`)
console.log(`| --- |${' --- |'.repeat(columns.size)}`)
for (const { row, attacks } of attackRows) {
  const cells = [...columns].map(([name, column]) => {
    const cell = column.get(row)
    return name === 'without isolation'
      ? `${cell?.worked.length} of ${attacks.length} work`
      : cell?.text
  })
  console.log(`| ${row} | ${cells.join(' | ')} |`)
}

let unreported = 0
for (const [name, column] of columns) {
  if (name === 'without isolation') continue
  for (const [row, { worked, reported }] of column) {
    if (worked.length === 0 || reported !== null) continue
    unreported += 1
    console.log(`\nopen and not reported under ${name}: ${row}: ${worked.join(', ')}`)
  }
}
if (unreported > 0) process.exitCode = 1
