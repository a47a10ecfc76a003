import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createCommandTools } from '@smithers/builtin-tools'
import { createMemoryLog } from '@smithers/log-memory'
import { createToolRun, type ToolRun } from '@smithers/tool-core'
import { afterEach, describe, expect, test } from 'vitest'
import { call } from '../fixtures/bash-task.ts'
import { code } from '../fixtures/error-code.ts'
import { createFileTask } from '../fixtures/file-task.ts'

const runs: ToolRun[] = []
afterEach(async () => {
  for (const run of runs.splice(0)) await run.settle()
})

type Isolation = 'none' | 'auto'

function commands(isolation: Isolation = 'auto', options: { abortSignal?: AbortSignal } = {}) {
  const { root } = createFileTask()
  const log = createMemoryLog()
  const run = createToolRun({
    runId: crypto.randomUUID(),
    rootDir: root,
    isolation,
    log,
    ...options,
  })
  runs.push(run)
  const { bash, bash_output, bash_kill } = run.tools(createCommandTools({ warn() {} }))
  const start = async (command: string): Promise<string> => {
    const text = await bash.execute({ command, background: true }, call)
    return /bash_output \{"id":"(job_[0-9a-f]{8})"\}/u.exec(text)?.[1] ?? expect.fail(text)
  }
  return {
    root,
    run,
    log,
    start,
    bash: (input: Parameters<typeof bash.execute>[0]) => bash.execute(input, call),
    output: (id: string, waitMs?: number) =>
      bash_output.execute(waitMs === undefined ? { id } : { id, waitMs }, call),
    kill: (id: string) => bash_kill.execute({ id }, call),
  }
}

/** Prints when it is there, then counts in a file until it is killed. */
const counting = 'echo ready; n=0; while :; do n=$((n+1)); echo $n > count; sleep 0.05; done'

function countIn(root: string): string {
  const file = join(root, 'count')
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}

/** The file no longer changes. */
async function hasStopped(root: string): Promise<boolean> {
  // Empty when the command was killed between emptying the file and writing to it.
  let before: string | undefined
  await expect
    .poll(
      () => {
        const now = countIn(root)
        const isSame = before === now
        before = now
        return isSame
      },
      { interval: 300 },
    )
    .toBe(true)
  return true
}

describe.each(['none', 'auto'] as const)(
  'commands in the background (isolation %s)',
  (isolation) => {
    test('are read part by part', async () => {
      const { start, output, bash } = commands(isolation)
      await bash({ command: 'mkfifo go' })
      const id = await start('echo one; cat go; echo three')
      await bash({ command: 'echo two > go' })
      let all = ''
      await expect
        .poll(async () => (all += await output(id, 1_000)))
        .toContain('exited with code 0')
      expect(all.replaceAll(/\[.*\]\n?/gu, '')).toMatch(/^(?:one\n)?two\nthree\n$/)
      // Nothing is read twice.
      expect(await output(id)).toBe(`[${id} exited with code 0.]`)
    })

    test('end with bash_kill, and with everything they started', async () => {
      const { start, kill, root, output } = commands(isolation)
      const id = await start(`(${counting}) & wait`)
      expect(await kill(id)).toMatch(/was killed\.\]$/)
      expect(await hasStopped(root)).toBe(true)
      expect(await output(id)).toBe(`[${id} was killed.]`)
      expect(await kill(id)).toBe(`[${id} was killed.]`)
    })

    test('end when the program settles the run', async () => {
      const { start, run, root } = commands(isolation)
      await start(counting)
      // Control: until then it counts.
      const before = countIn(root)
      await expect.poll(() => countIn(root)).not.toBe(before)
      await run.settle()
      expect(await hasStopped(root)).toBe(true)
    })

    test('end when the run is aborted', async () => {
      const abort = new AbortController()
      const { start, root } = commands(isolation, { abortSignal: abort.signal })
      await start(counting)
      abort.abort()
      expect(await hasStopped(root)).toBe(true)
    })
  },
)

describe('a command in the background', () => {
  test('that fails at once, or is short, is answered like any other', async () => {
    const { bash } = commands()
    const answer = async (input: Parameters<typeof bash>[0]): Promise<string> => {
      for (;;) {
        const text = await bash({ ...input, background: true })
        // Half a second was over before its end: a busy machine is slow to start it.
        if (!text.includes('bash_output {"id":')) return text
      }
    }
    const failing = answer({ cmd: 'no-such-program' })
    await expect(failing).rejects.toThrow(code('TOOL_SPAWN_FAILED'))
    await expect(answer({ command: 'echo no; exit 3' })).rejects.toThrow(
      /exited with code 3[^]*no\n/,
    )
    expect(await answer({ command: 'echo done' })).toBe('done\n')
  })

  test('says how it ended, with what the sandbox undid', async () => {
    const { start, output, root } = commands()
    const id = await start('until test -e go; do sleep 0.05; done; echo evil > .envrc; exit 4')
    // No command: what two change at once may be told of either.
    writeFileSync(join(root, 'go'), '')
    let text = ''
    await expect.poll(async () => (text += await output(id, 2_000))).toContain('exited with code 4')
    expect(text).toContain('The command created ".envrc", a protected name')
  })

  test('is checked like any other before it starts', async () => {
    const { bash, root } = commands()
    const pushing = bash({ command: 'touch ran; git push', background: true })
    await expect(pushing).rejects.toThrow(code('TOOL_GIT_REMOTE_DISABLED'))
    expect(existsSync(join(root, 'ran'))).toBe(false)
  })

  test('is unknown to other runs, which are told what they have', async () => {
    const [one, other] = [commands(), commands()]
    const id = await one.start(counting)
    await expect(other.output(id)).rejects.toThrow(/No background command has the id .*None was/)
    await expect(other.kill(id)).rejects.toThrow(code('INVALID_INPUT'))
    await expect(one.output('job_0')).rejects.toThrow(`Those of this run are ${id}.`)
    expect(await one.output(id)).toContain(`${id} is running`)
  })

  test('may be one of 16', async () => {
    const { start, bash, kill } = commands()
    const ids = await Promise.all(
      Array.from({ length: 16 }, () => start('echo; read x < never || sleep 86400')),
    )
    const tooMany = bash({ command: 'sleep 86400', background: true })
    await expect(tooMany).rejects.toThrow(code('TOOL_LIMIT_REACHED'))
    await expect(tooMany).rejects.toThrow(ids[3])
    await kill(ids[3] ?? '')
    await start('sleep 86400')
  })

  test('counts from its start, so calls made together stay within the limit', async () => {
    const { bash } = commands('none')
    const input = { command: 'sleep 86400', background: true }
    const answers = await Promise.allSettled(Array.from({ length: 30 }, () => bash(input)))
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(16)
    for (const answer of answers) {
      if (answer.status === 'rejected') {
        expect(answer.reason).toMatchObject({ code: 'TOOL_LIMIT_REACHED' })
      }
    }
  })

  test('outlives the abort of the call that started it, once that was answered', async () => {
    const { run, root } = commands('none')
    const { bash } = run.tools(createCommandTools({ warn() {} }))
    const abort = new AbortController()
    const options = { ...call, abortSignal: abort.signal }
    await bash.execute({ command: counting, background: true }, options)
    abort.abort()
    const before = countIn(root)
    await expect.poll(() => countIn(root)).not.toBe(before)
    // Control: an abort before the answer ends it.
    // On a busy machine the command may be seen to run only after half a second, with the answer under way.
    let outcome: unknown = ''
    for (let tries = 0; typeof outcome === 'string'; tries += 1) {
      const early = new AbortController()
      const begun = `begun-${tries}`
      const starting = bash.execute(
        { command: `touch ${begun}; sleep 86400`, background: true },
        { ...call, toolCallId: begun, abortSignal: early.signal },
      )
      const ended = starting.catch((error: unknown) => error)
      await expect.poll(() => existsSync(join(root, begun)), { interval: 10 }).toBe(true)
      early.abort()
      outcome = await ended
    }
    expect(outcome).toMatchObject({ code: 'TOOL_ABORTED' })
  })

  test('is forgotten outside runs when its end was read, and no id is told to others', async () => {
    const { root: rootDir } = createFileTask()
    const options = { rootDir, isolation: 'none', warn() {} } as const
    const { bash, bash_output, bash_kill } = createCommandTools(options)
    const text = await bash.execute({ command: 'sleep 86400', background: true }, call)
    const id = /"id":"(job_\w+)"/u.exec(text)?.[1] ?? expect.fail(text)
    const unknown = bash_output.execute({ id: 'job_0' }, call)
    await expect(unknown).rejects.toThrow(code('INVALID_INPUT'))
    await expect(unknown).rejects.not.toThrow(id)
    expect(await bash_output.execute({ id }, call)).toContain('is running')
    expect(await bash_kill.execute({ id }, call)).toContain('was killed')
    await expect(bash_output.execute({ id }, call)).rejects.toThrow(code('INVALID_INPUT'))
  })

  test('drops the oldest output that was not read', async () => {
    const { start, output, bash, root } = commands()
    await bash({ command: 'mkfifo go' })
    const id = await start('read x < go; seq 1 100000; touch printed; sleep 86400')
    await output(id)
    await bash({ command: 'echo > go' })
    await expect.poll(() => existsSync(join(root, 'printed'))).toBe(true)
    const text = await output(id)
    expect(text.length).toBeLessThan(200_300)
    expect(text).toMatch(/^\[… \d+ characters were dropped …\]\n/)
  })
})
