import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startModelServer } from './fixtures/model-server.ts'
import type { ModelTurn } from './fixtures/model-turn.ts'
import { type Outcome, runSmithers } from './fixtures/smithers-process.ts'
import { temporaryFolder } from '../../../packages/cli/test/fixtures/temporary-folder.ts'

const write: ModelTurn = {
  call: { name: 'write', input: { path: 'note.txt', content: 'a secret plan\n' } },
}

/** A folder, and an agent that writes a note and then says what it was told. */
async function agentThatWrites() {
  const folder = temporaryFolder()
  const root = join(folder, 'project')
  mkdirSync(root)
  const log = join(folder, 'calls.db')
  const note = join(root, 'note.txt')
  let turns = 0
  const told: string[] = []
  const server = await startModelServer(({ body }) => {
    turns += 1
    told.push(JSON.stringify(body))
    return turns % 2 === 1 ? write : { text: 'I am done.' }
  })
  onTestFinished(() => server.close())
  const start = (): Promise<Outcome> => {
    // A run that pauses has made one turn; the next begins a new conversation.
    turns = 0
    const place = ['--root', root, '--log', log, '--run', 'r', '--ask', 'write,edit']
    const model = ['--model', 'openai-compatible/m', '--base-url', server.url]
    return runSmithers(['run', 'Write a note', ...place, ...model], { env: { HOME: folder } })
  }
  const smithers = (...args: string[]): Promise<Outcome> => runSmithers([...args, '--log', log])
  return { start, smithers, note, told, log }
}

function idIn({ stdout }: Outcome): string {
  return /apr_[\w-]+/.exec(stdout)?.[0] ?? 'none'
}

describe('smithers run --ask', () => {
  test('pauses without a terminal, and says how to decide and resume', async () => {
    const { start, smithers, note, log } = await agentThatWrites()
    const paused = await start()
    expect(paused.exitCode).toBe(3)
    expect(existsSync(note)).toBe(false)
    const listed = await smithers('approvals')
    expect(paused.stdout).toContain(
      `waits  write  "Write note.txt?"\n       smithers approve ${idIn(listed)} --log ${log}\n`,
    )
    expect(paused.stderr).toBe(
      'smithers: The run is paused: a call waits for approval. After the decision, resume with: the same command and --run r\n',
    )
    expect((await smithers('why', 'r')).stdout).toMatch(
      /^Run r is a run of an agent, with 1 call in 1 attempt\. Its last call was write, begun at .* It waits for a decision about write in task "agent" \("Write note\.txt\?"\): "smithers approve apr_.* The same "smithers run" command and --run r start its next attempt/,
    )
    expect(listed.stdout).toContain('Write note.txt?')
    // The arguments are shown as in the log, and the preview shows what would be written.
    expect(listed.stdout).toContain('│ +a secret plan')
  })

  test('runs the call once it is approved and the run is started again', async () => {
    const { start, smithers, note, log } = await agentThatWrites()
    await start()
    const approved = await smithers('approve', idIn(await smithers('approvals')), '--by', 'mia')
    expect([approved.exitCode, approved.stdout]).toEqual([
      0,
      expect.stringMatching(/write {2}approved\n$/),
    ])
    expect(existsSync(note)).toBe(false)
    expect((await start()).exitCode).toBe(0)
    expect(readFileSync(note, 'utf8')).toBe('a secret plan\n')
    // The preview is erased once the call has run.
    expect(readFileSync(log, 'latin1')).not.toContain('a secret plan')
    const late = await smithers('reject', idIn(approved))
    expect(late.exitCode).toBe(2)
    expect(late.stderr).toMatch(
      /was already approved by mia at [\d:.TZ-]+, and its call has run\. A decision is final\./,
    )
    expect((await smithers('approvals')).stderr).toContain('No call waits')
  })

  test('runs it with other arguments, when they fit', async () => {
    const { start, smithers, note } = await agentThatWrites()
    await start()
    const id = idIn(await smithers('approvals'))
    const wrong = await smithers('approve', id, '--args', '{"path":1}')
    expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining('stays pending')])
    expect((await smithers('approve', id, '--args', '{"path":')).exitCode).toBe(2)
    await smithers('approve', id, '--args', '{"path":"note.txt","content":"changed\\n"}')
    await start()
    expect(readFileSync(note, 'utf8')).toBe('changed\n')
  })

  test('tells the agent why a call was rejected, and refuses another decision', async () => {
    const { start, smithers, note, told } = await agentThatWrites()
    await start()
    const id = idIn(await smithers('approvals'))
    const rejected = await smithers('reject', id, '--comment', 'Not in this folder.', '--json')
    expect(JSON.parse(rejected.stdout)).toMatchObject({
      id,
      status: 'rejected',
      comment: 'Not in this folder.',
    })
    const late = await smithers('approve', id)
    expect([late.exitCode, late.stderr]).toEqual([2, expect.stringContaining('already rejected')])
    expect((await start()).exitCode).toBe(0)
    expect(told.at(-1)).toContain('Tool call rejected: Not in this folder.')
    expect(existsSync(note)).toBe(false)
  })

  test('refuses names that are no tools', async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'x'), '')
    const { exitCode, stderr } = await runSmithers([
      'run',
      'x',
      '--root',
      folder,
      '--log',
      join(folder, 'l.db'),
      '--ask',
      'write,sudo',
    ])
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringContaining('--ask write,sudo has unknown tools: sudo.'),
    ])
  })
})
