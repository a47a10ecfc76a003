import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { startModelServer } from './fixtures/model-server.ts'
import { runSmithers } from './fixtures/smithers-process.ts'
import { keys, noTerminal } from '../../../packages/cli/test/fixtures/terminal-session.ts'
import { smithersAtTerminal } from './fixtures/smithers-terminal.ts'
import { temporaryFolder } from '../../../packages/cli/test/fixtures/temporary-folder.ts'

const workflow = `
import { createBuiltinTools, createSmithers, defineTool } from '@smithers/orchestrator'
import { withGates } from '@smithers/tool-core'
import { appendFileSync } from 'node:fs'
import { z } from 'zod'

const { Workflow, Parallel, Task, smithers, outputs } = createSmithers({
  input: z.object({ tool: z.enum(['send', 'write', 'edit']), sent: z.string() }),
  answer: z.object({ text: z.string() }),
})
const { write, edit } = createBuiltinTools({ warn() {} })
const gates = { needsApproval: true, approvalPrompt: 'Change {{path}}?' }

const tools = (sent) => ({
  send: defineTool({
    name: 'send',
    schema: z.object({ to: z.string(), cents: z.number() }),
    sideEffect: true,
    idempotent: false,
    acceptsContext: true,
    needsApproval: true,
    approvalPrompt: 'Send {{cents}} to {{to}}?',
    execute: ({ to, cents }) => {
      appendFileSync(sent, to + ' ' + cents + '\\n')
      return 'sent'
    },
  }),
  write: withGates(write, gates),
  edit: withGates(edit, gates),
})
const args = {
  send: { to: 'mia', cents: 3334 },
  write: { path: 'note.txt', content: 'one\\nnew\\n' },
  edit: { path: 'note.txt', patch: '--- a/note.txt\\n+++ b/note.txt\\n@@ -1,2 +1,2 @@\\n one\\n-old\\n+new\\n' },
}

export default smithers(({ input }) => (
  <Workflow name="ask">
    <Parallel>
      <Task id="act" output={outputs.answer}>
        {async () => {
          const call = { toolCallId: 'call', messages: [] }
          try {
            return { text: String(await tools(input.sent)[input.tool].execute(args[input.tool], call)) }
          } catch (error) {
            if (error.code === 'TOOL_APPROVAL_REQUIRED') throw error
            return { text: error.message }
          }
        }}
      </Task>
      <Task id="beside">{() => 'done'}</Task>
    </Parallel>
  </Workflow>
))
`

interface Place {
  readonly folder: string
  readonly note: string
  readonly up: readonly string[]
  /** What was sent, a line each. */
  readonly sent: () => string
}

function place(tool: 'send' | 'write' | 'edit'): Place {
  const folder = temporaryFolder()
  const root = join(folder, 'project')
  mkdirSync(root)
  const note = join(root, 'note.txt')
  writeFileSync(note, 'one\nold\n')
  writeFileSync(join(folder, 'ask.tsx'), workflow)
  const sent = join(folder, 'sent.txt')
  const input = JSON.stringify({ tool, sent })
  return {
    folder,
    note,
    up: ['up', 'ask.tsx', '--root', root, '--run', 'r1', '--input', input],
    sent: () => (existsSync(sent) ? readFileSync(sent, 'utf8') : ''),
  }
}

describe('a question at a terminal', () => {
  beforeEach((context) => {
    // In CI python3 is always there: a missing one fails.
    if (noTerminal !== undefined && process.env['CI'] === undefined) context.skip(noTerminal)
  })

  test('runs the call once with the arguments that it showed, when it is approved', async () => {
    const { folder, up, sent } = place('send')
    const terminal = smithersAtTerminal(up, folder)
    await terminal.seen(/Send 3334 to mia\?/)
    await terminal.seen(/"to": "mia"/)
    await terminal.seen(/"cents": 3334/)
    await terminal.seen(/Approve this call\?/)
    expect(sent()).toBe('')
    terminal.press(keys.enter)
    await terminal.seen(/✓ .*act/)
    expect(await terminal.exitCode).toBe(0)
    expect(sent()).toBe('mia 3334\n')
  })

  test('does not run a rejected call, and tells the task why', async () => {
    const { folder, up, sent } = place('send')
    const terminal = smithersAtTerminal(up, folder)
    await terminal.seen(/Approve this call\?/)
    terminal.press(keys.down)
    await terminal.seen(/● Reject/)
    terminal.press(keys.enter)
    await terminal.seen(/Why\?/)
    terminal.press(`Too much.${keys.enter}`)
    await terminal.seen(/Tool call rejected: Too much\./)
    expect(await terminal.exitCode).toBe(0)
    expect(sent()).toBe('')
  })

  test('runs the call with the arguments of the person, once they fit', async () => {
    const { folder, up, sent } = place('send')
    const terminal = smithersAtTerminal(up, folder)
    for (const json of ['{"to":7}', '{"to":"ben","cents":1}']) {
      await terminal.seen(/Approve this call\?/)
      terminal.press(keys.down)
      await terminal.seen(/● Reject/)
      terminal.press(keys.down)
      await terminal.seen(/● Approve with other/)
      terminal.press(keys.enter)
      await terminal.seen(/The arguments, as JSON/)
      terminal.press(`${keys.clearLine}${json}${keys.enter}`)
    }
    expect(await terminal.exitCode).toBe(0)
    expect(terminal.printed()).toContain('Your arguments do not match: to: ')
    expect(sent()).toBe('ben 1\n')
  })

  test('asks again on a resume what was put off', async () => {
    const { folder, up, sent } = place('send')
    const first = smithersAtTerminal(up, folder)
    await first.seen(/Approve this call\?/)
    first.press(keys.interrupt)
    expect(await first.exitCode).toBe(3)
    expect(sent()).toBe('')
    const { stdout } = await runSmithers(['why', 'r1'], { cwd: folder })
    expect(stdout).toMatch(
      /It waits for a decision about send in task "act" \("Send 3334 to mia\?"\): "smithers approve apr_[\w-]+" or "smithers reject apr_/,
    )
    const second = smithersAtTerminal(['resume', 'r1'], folder)
    await second.seen(/resumed, 1 task done/)
    await second.seen(/Approve this call\?/)
    second.press(keys.enter)
    expect(await second.exitCode).toBe(0)
    expect(sent()).toBe('mia 3334\n')
  })

  test.each(['write', 'edit'] as const)(
    'shows in colour what %s would change, and changes it when approved',
    async (tool) => {
      const { folder, up, note } = place(tool)
      const terminal = smithersAtTerminal(up, folder)
      await terminal.seen(/Change note\.txt\?/)
      await terminal.seen(/Approve this call\?/)
      const [red, green, plain] = ['\u001B[31m', '\u001B[32m', '\u001B[39m']
      expect(terminal.printed()).toContain(`${red}-old${plain}\r\n${green}+new${plain}\r\n`)
      expect(readFileSync(note, 'utf8')).toBe('one\nold\n')
      terminal.press(keys.enter)
      expect(await terminal.exitCode).toBe(0)
      expect(readFileSync(note, 'utf8')).toBe('one\nnew\n')
    },
  )

  test('stands in smithers run as well', async () => {
    const { folder, note } = place('write')
    const input = { path: 'note.txt', content: 'new\n' }
    const server = await startModelServer(({ number }) =>
      number === 1 ? { call: { name: 'write', input } } : { text: 'I am done.' },
    )
    onTestFinished(() => server.close())
    const where = ['--root', 'project', '--log', 'calls.db', '--ask', 'write']
    const model = ['--model', 'openai-compatible/m', '--base-url', server.url]
    const terminal = smithersAtTerminal(['run', 'Write a note', ...where, ...model], folder)
    await terminal.seen(/Write note\.txt\?[^]*-old[^]*\+new[^]*Approve this call\?/)
    expect(readFileSync(note, 'utf8')).toBe('one\nold\n')
    terminal.press(keys.enter)
    expect(await terminal.exitCode).toBe(0)
    expect(readFileSync(note, 'utf8')).toBe('new\n')
  })
})
