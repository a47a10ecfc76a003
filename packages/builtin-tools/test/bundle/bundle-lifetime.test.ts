import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  closeTools,
  createBuiltinTools,
  createCommandTools,
  createLiveBash,
  tools as defaultTools,
} from '@smithers/builtin-tools'
import { createToolRun } from '@smithers/tool-core'
import { describe, expect, test, vi } from 'vitest'
import { SharedByCalls, type UserOfShared } from '../../src/bundle/shared-by-calls.ts'
import { call } from '../fixtures/bash-task.ts'
import { code } from '../fixtures/error-code.ts'
import { createFileTask } from '../fixtures/file-task.ts'

const counting = 'n=0; while :; do n=$((n+1)); echo $n > count; sleep 0.02; done'

async function counts(root: string): Promise<void> {
  await expect.poll(() => existsSync(join(root, 'count')), { interval: 10 }).toBe(true)
}

/** What a command that was started afterwards finds in the file, after a while. */
function later(root: string): string {
  return readFileSync(join(root, 'count'), 'utf8')
}

function task() {
  const { root } = createFileTask()
  const run = createToolRun({ runId: crypto.randomUUID(), rootDir: root })
  return { root, run }
}

describe('tools that are closed', () => {
  test('end the command that runs, and refuse what comes later, which ends the run', async () => {
    const { root, run } = task()
    const bundle = createBuiltinTools({ warn() {} })
    const { bash, read } = run.tools(bundle)
    const running = bash.execute({ command: counting }, call)
    void running.catch(() => {})
    await counts(root)
    await Promise.all([closeTools(bundle), bundle[Symbol.asyncDispose]()])
    const last = later(root)
    await expect(running).rejects.toThrow(code('TOOL_ABORTED'))
    await expect(read.execute({ path: 'count' }, call)).rejects.toMatchObject({
      code: 'TOOL_CLOSED',
      effect: 'none',
      message: expect.stringContaining('must create the tools again'),
    })
    expect(run.fatal).toMatchObject({ code: 'TOOL_CLOSED' })
    await closeTools(bundle)
    // Tools of another bundle go on, and show that the command counts no more.
    const next = createToolRun({ rootDir: root })
    await using others = createBuiltinTools({ warn() {} })
    const text = await next.tools(others).bash.execute({ command: 'sleep 0.2; cat count' }, call)
    expect(text).toBe(last)
  })

  test('end their commands in the background', async () => {
    const { root, run } = task()
    const bundle = createCommandTools({ warn() {} })
    const { bash } = run.tools(bundle)
    await bash.execute({ command: counting, background: true }, call)
    await counts(root)
    await closeTools(bundle)
    const last = later(root)
    await expect(bash.execute({ command: 'true' }, call)).rejects.toThrow(code('TOOL_CLOSED'))
    expect(later(root)).toBe(last)
  })

  test('end a command whose output is watched', async () => {
    const { root, run } = task()
    const bash = createLiveBash({ warn() {} })
    const views = run.tools({ bash }).bash.execute({ command: counting }, call)
    const watching = (async () => {
      for await (const _ of views) continue
    })()
    void watching.catch(() => {})
    await counts(root)
    await bash[Symbol.asyncDispose]()
    await expect(watching).rejects.toThrow(code('TOOL_ABORTED'))
  })

  test('are the very object that was returned', async () => {
    await using bundle = createBuiltinTools()
    expect(Object.keys(bundle)).toEqual(['read', 'write', 'edit', 'grep', 'bash'])
    for (const other of [{ ...bundle }, defaultTools, {}]) {
      await expect(closeTools(other)).rejects.toThrow(code('INVALID_INPUT'))
    }
  })
})

class EndingRun implements UserOfShared {
  readonly #releases = new Map<object, () => void>()
  hold(value: object, release: () => void): boolean {
    if (this.#releases.has(value)) return false
    this.#releases.set(value, release)
    return true
  }
  end(): void {
    for (const release of this.#releases.values()) release()
    this.#releases.clear()
  }
}

describe('a root that runs use', () => {
  function shared() {
    vi.useFakeTimers()
    const closed: string[] = []
    const roots = new SharedByCalls<string>({
      most: 8,
      idleMs: 60_000,
      close: (value) => void closed.push(value),
    })
    const use = (run: UserOfShared | undefined, isOutsideRun = false): Promise<void> =>
      roots.use({ key: 'a', owner: roots, open: () => 'A', isOutsideRun, run }, () => {})
    return { closed, use }
  }

  test('is released a minute after the end of the last one, unless another came', async () => {
    const { closed, use } = shared()
    const [first, second, third] = [new EndingRun(), new EndingRun(), new EndingRun()]
    await use(first)
    await use(first)
    await use(second)
    first.end()
    vi.advanceTimersByTime(3_600_000)
    expect(closed).toEqual([])
    second.end()
    vi.advanceTimersByTime(59_000)
    await use(third)
    vi.advanceTimersByTime(3_600_000)
    expect(closed).toEqual([])
    third.end()
    vi.advanceTimersByTime(60_000)
    expect(closed).toEqual(['A'])
    vi.useRealTimers()
  })

  test('stays open for calls outside runs, of which nothing says when they are over', async () => {
    const { closed, use } = shared()
    const run = new EndingRun()
    await use(run)
    await use(undefined, true)
    run.end()
    vi.advanceTimersByTime(3_600_000)
    expect(closed).toEqual([])
    vi.useRealTimers()
  })
})
