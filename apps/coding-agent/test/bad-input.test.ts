import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runSmithers } from './fixtures/smithers-process.ts'
import { pictureOf, temporaryFolder } from '../../../packages/cli/test/fixtures/temporary-folder.ts'

const key = { ANTHROPIC_API_KEY: 'a-key' }
const complete = ['--root', 'project', '--log', 'calls.db', '--model', 'anthropic/a-model']

interface BadInput {
  readonly name: string
  readonly args: readonly string[]
  readonly env?: Record<string, string>
  readonly says: RegExp
}

const badInputs: readonly BadInput[] = [
  { name: 'an unknown command', args: ['walk'], says: /unknown command 'walk'/ },
  {
    name: 'an unknown option',
    args: ['run', 'x', ...complete, '--fast'],
    says: /unknown option '--fast'/,
  },
  { name: 'no task', args: ['run', ...complete], says: /missing required argument 'task'/ },
  { name: 'an empty task', args: ['run', ' ', ...complete], env: key, says: /task is empty/ },
  {
    name: 'no model',
    args: ['run', 'x', '--root', 'project', '--log', 'calls.db'],
    says: /No model is given\. Use --model provider\/model/,
  },
  {
    name: 'an unknown provider',
    args: ['run', 'x', '--root', 'project', '--log', 'calls.db', '--model', 'acme/gpt'],
    says: /Unknown model "acme\/gpt"\. .*anthropic, openai, openai-compatible/,
  },
  {
    name: 'a model without a provider',
    args: ['run', 'x', '--root', 'project', '--log', 'calls.db', '--model', 'gpt'],
    says: /Unknown model "gpt"/,
  },
  {
    name: "a provider's name that every object has",
    args: ['run', 'x', '--root', 'project', '--log', 'calls.db', '--model', 'toString/gpt'],
    says: /Unknown model "toString\/gpt"/,
  },
  {
    name: 'a missing key',
    args: ['run', 'x', ...complete],
    says: /ANTHROPIC_API_KEY is not set/,
  },
  {
    name: 'a key that is only white space',
    args: ['run', 'x', ...complete],
    env: { ANTHROPIC_API_KEY: ' ' },
    says: /ANTHROPIC_API_KEY is not set/,
  },
  {
    name: 'a compatible provider without an address',
    args: ['run', 'x', '--root', 'project', '--log', 'calls.db', '--model', 'openai-compatible/m'],
    says: /needs --base-url URL/,
  },
  {
    name: 'an address that is none',
    args: ['run', 'x', ...complete, '--base-url', 'file:///etc/passwd'],
    env: key,
    says: /"file:\/\/\/etc\/passwd" is not an http or https address/,
  },
  {
    name: 'a root that does not exist',
    args: ['run', 'x', '--root', 'nowhere', '--log', 'calls.db', '--model', 'anthropic/m'],
    env: key,
    says: /--root nowhere is not a directory/,
  },
  {
    name: 'a root that is a file',
    args: ['run', 'x', '--root', 'notes.txt', '--log', 'calls.db', '--model', 'anthropic/m'],
    env: key,
    says: /--root notes\.txt is not a directory/,
  },
  {
    name: 'a log that is no database',
    args: ['run', 'x', '--root', 'project', '--log', 'notes.txt', '--model', 'anthropic/m'],
    env: key,
    says: /notes\.txt cannot be opened: .*not a SQLite database/,
  },
  {
    name: 'a log that is a directory',
    args: ['run', 'x', '--root', 'project', '--log', 'project', '--model', 'anthropic/m'],
    env: key,
    says: /The log project is a directory/,
  },
  {
    name: 'a log in a folder that does not exist',
    args: ['run', 'x', '--root', 'project', '--log', 'no/calls.db', '--model', 'anthropic/m'],
    env: key,
    says: /no does not exist/,
  },
  {
    name: 'a limit that is no number',
    args: ['run', 'x', ...complete, '--max-output-bytes', 'many'],
    env: key,
    says: /'many' is invalid.*whole number from 1/,
  },
  {
    name: 'a limit of nothing',
    args: ['run', 'x', ...complete, '--max-steps', '0'],
    env: key,
    says: /'0' is invalid.*whole number from 1/,
  },
  {
    name: 'an output limit over 10 MiB',
    args: ['run', 'x', ...complete, '--max-output-bytes', '10485761'],
    env: key,
    says: /maxOutputBytes must be .*10 MiB.*10485761/,
  },
  {
    name: 'a time limit over an hour',
    args: ['run', 'x', ...complete, '--tool-timeout-ms', '3600001'],
    env: key,
    says: /timeoutMs must be .*one hour.*3600001/,
  },
]

test.for(badInputs)(
  '$name: one line, exit code 2, nothing changed',
  async ({ args, env, says }) => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'project'))
    writeFileSync(join(folder, 'project', 'a.txt'), 'unchanged')
    writeFileSync(
      join(folder, 'notes.txt'),
      'This is a text of more than a hundred bytes. '.repeat(100),
    )
    const before = pictureOf(folder)

    const outcome = await runSmithers(args, {
      cwd: folder,
      env: { HOME: folder, TMPDIR: folder, ...env },
    })

    expect(outcome.stderr).toMatch(says)
    expect(outcome.stderr).toMatch(/^smithers: [^\n]+\n$/)
    expect(outcome.stdout).toBe('')
    expect(outcome.exitCode).toBe(2)
    expect(pictureOf(folder)).toEqual(before)
  },
)
