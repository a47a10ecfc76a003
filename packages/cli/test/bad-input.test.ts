import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { writeSampleLog } from './fixtures/sample-log.ts'
import { runSmithers } from './fixtures/smithers-process.ts'
import { pictureOf, temporaryFolder } from './fixtures/temporary-folder.ts'

interface BadInput {
  readonly name: string
  readonly args: readonly string[]
  readonly says: RegExp
}

const badInputs: readonly BadInput[] = [
  {
    name: 'an unknown command',
    args: ['cals'],
    says: /unknown command 'cals'.*Did you mean calls/,
  },
  {
    name: 'a log to list that is not there',
    args: ['calls', '--log', 'none.db'],
    says: /There is no log at none\.db/,
  },
  {
    name: 'a log to list that is no database',
    args: ['calls', '--log', 'notes.txt'],
    says: /not a SQLite database/,
  },
  {
    name: 'a log to show that is not there',
    args: ['show', '1', '--log', 'none.db'],
    says: /There is no log at none\.db/,
  },
  {
    name: 'a call number that is none',
    args: ['show', 'one', '--log', 'none.db'],
    says: /'one' is invalid/,
  },
  {
    name: 'an unknown state',
    args: ['calls', '--log', 'none.db', '--status', 'odd'],
    says: /'odd' is invalid.*started, success, error/,
  },
  {
    name: 'a log to list that is an empty file',
    args: ['calls', '--log', 'empty.db'],
    says: /empty\.db is no log: it is an empty file/,
  },
  {
    name: 'a log to decide in that is the database of another program',
    args: ['approve', 'apr_1', '--log', 'other.db'],
    says: /other\.db is no log: it is the database of something else/,
  },
  {
    name: 'a call of another log that is not there',
    args: ['show', '9', '--log', 'calls.db'],
    says: /No call 9 in run run-1\. "smithers calls --log calls\.db" lists them\./,
  },
  {
    name: 'an approval that is not there',
    args: ['approve', 'apr_1', '--log', 'calls.db'],
    says: /No approval has the id apr_1.* "smithers approvals --log calls\.db" lists/,
  },
  {
    name: 'a run to print that is not there',
    args: ['view', '--text', 'dem', '--log', 'calls.db'],
    says: /The log has no run "dem"\. Leave the id out for the newest one\.\n$/,
  },
  {
    name: 'a schema of a log that is a file',
    args: ['runs', '--log', 'notes.txt', '--schema', 'agents'],
    says: /--schema names tables of PostgreSQL, and notes\.txt is a file/,
  },
  {
    name: 'a folder to examine that is not there',
    args: ['doctor', '--root', 'nowhere'],
    says: /--root nowhere is not a directory/,
  },
]

test.for(badInputs)('$name: one line, exit code 2, nothing changed', async ({ args, says }) => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'project'))
  writeFileSync(join(folder, 'project', 'a.txt'), 'unchanged')
  writeFileSync(
    join(folder, 'notes.txt'),
    'This is a text of more than a hundred bytes. '.repeat(100),
  )
  writeFileSync(join(folder, 'empty.db'), '')
  const other = new DatabaseSync(join(folder, 'other.db'))
  other.exec('CREATE TABLE invoices (amount INTEGER)')
  other.close()
  await writeSampleLog(join(folder, 'calls.db'), [{ seq: 1, toolName: 'read', finish: {} }])
  const before = pictureOf(folder)

  const outcome = await runSmithers(args, {
    cwd: folder,
    env: { HOME: folder, TMPDIR: folder },
  })

  expect(outcome.stderr).toMatch(says)
  expect(outcome.stderr).toMatch(/^smithers: [^\n]+\n$/)
  expect(outcome.stdout).toBe('')
  expect(outcome.exitCode).toBe(2)
  expect(pictureOf(folder)).toEqual(before)
})
