import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  bash,
  type BuiltinToolsOptions,
  createBuiltinTools,
  type RanCommand,
} from '@smithers/builtin-tools'
import { createToolContext, runWithToolContext } from '@smithers/tool-core'
import { describe, expect, test, vi } from 'vitest'
import { call, createTask } from '../fixtures/bash-task.ts'
import { code } from '../fixtures/error-code.ts'
import { createFileTask } from '../fixtures/file-task.ts'
import { hasOwnNetwork } from '../fixtures/network-run.ts'

describe('createBuiltinTools', () => {
  const descriptions = [
    { isolation: undefined, sandbox: false, rights: false },
    { isolation: 'auto', sandbox: false, rights: false },
    { isolation: 'none', sandbox: false, rights: true },
    { isolation: { require: [] }, sandbox: false, rights: false },
    { isolation: { require: ['network', 'kill', 'syscalls'] }, sandbox: false, rights: false },
    { isolation: { require: ['files'] }, sandbox: true, rights: false },
    { isolation: 'require', sandbox: true, rights: false },
  ] as const

  test.each(
    descriptions.flatMap((row) =>
      [undefined, false, true].map((allowNetwork) => ({ ...row, allowNetwork })),
    ),
  )(
    'speaks of a sandbox to the model only where one is required: $isolation, network $allowNetwork',
    ({ isolation, allowNetwork, sandbox, rights }) => {
      const { description } = createBuiltinTools({ isolation, allowNetwork }).bash
      expect(description.includes('in a sandbox')).toBe(sandbox)
      expect(description.includes('all rights of the user')).toBe(rights)
    },
  )

  test('hands code the separate streams and what was enforced', async () => {
    const commands: RanCommand[] = []
    const { bash: observed } = createBuiltinTools({
      isolation: 'none',
      onCommand: (command) => commands.push(command),
    })
    const { run } = createTask({}, observed)
    await run({ cmd: 'sh', args: ['-c', 'echo out; echo err >&2'] })
    expect(commands).toEqual([
      {
        toolCallId: 'call-1',
        cmd: 'sh',
        args: ['-c', 'echo out; echo err >&2'],
        result: expect.objectContaining({
          stdout: 'out\n',
          stderr: 'err\n',
          enforced: expect.objectContaining({ backend: 'none', kill: 'best-effort' }),
        }),
      },
    ])
  })

  test.runIf(hasOwnNetwork)(
    'shows what npm has downloaded where packageCaches is true',
    async () => {
      const { root: home } = createFileTask({})
      mkdirSync(join(home, '.npm/_cacache'), { recursive: true })
      writeFileSync(join(home, '.npm/_cacache/kept'), 'downloaded\n')
      vi.stubEnv('HOME', home)
      vi.stubEnv('npm_config_cache', undefined)
      try {
        const input = { cmd: 'sh', args: ['-c', 'cat ~/.npm/_cacache/kept || echo unseen'] }
        for (const packageCaches of [true, false]) {
          const { run } = createTask(
            {},
            createBuiltinTools({ packageCaches, isolation: 'auto' }).bash,
          )
          expect(await run(input)).toContain(packageCaches ? 'downloaded' : 'unseen')
        }
      } finally {
        vi.unstubAllEnvs()
      }
    },
  )

  test('prefers its own limits, root and network to those of the context', async () => {
    const { root } = createFileTask({ file: 'x' })
    const within = (limits: BuiltinToolsOptions['limits']) => {
      const { bash: own } = createBuiltinTools({
        rootDir: root,
        limits,
        allowNetwork: false,
        isolation: 'none',
      })
      return createTask({ allowNetwork: true }, own).run
    }
    const run = within({ maxOutputBytes: 50 })
    expect(await run({ cmd: 'ls' })).toBe('file\n')
    await expect(run({ cmd: 'curl' })).rejects.toThrow(code('TOOL_NETWORK_DISABLED'))
    const late = within({ timeoutMs: 300 })({ cmd: 'sleep', args: ['86400'] })
    await expect(late).rejects.toThrow('after 300 ms')
    const output = await run({ cmd: 'seq', args: ['1', '1000'] })
    expect(Buffer.byteLength(output)).toBeLessThanOrEqual(50)
  })

  test('asks a policy of its own about every command', async () => {
    const { bash: own } = createBuiltinTools({
      isolation: 'none',
      commands: ([command]) =>
        command === 'rm'
          ? { code: 'TOOL_NETWORK_DISABLED', rule: 'mine', token: 'rm', reason: 'rm is not wanted' }
          : null,
    })
    const { run } = createTask({}, own)
    await expect(run({ cmd: 'rm', args: ['x'] })).rejects.toThrow('rm is not wanted')
    await expect(run({ cmd: 'curl', args: ['--version'] })).resolves.toContain('curl')
  })

  test('reads shell payloads with the strict policy', async () => {
    const { bash: strict } = createBuiltinTools({ isolation: 'none', commands: 'strict' })
    const { run } = createTask({}, strict)
    await expect(run({ cmd: 'sh', args: ['-lc', 'true && curl x'] })).rejects.toThrow(
      code('TOOL_NETWORK_DISABLED'),
    )
    expect(await run({ cmd: 'sh', args: ['-lc', 'echo fine'] })).toBe('fine\n')
  })

  test('creates the named tools, and all five by default', () => {
    expect(Object.keys(createBuiltinTools())).toEqual(['read', 'write', 'edit', 'grep', 'bash'])
    expect(Object.keys(createBuiltinTools({ only: ['read', 'grep'] }))).toEqual(['read', 'grep'])
  })

  test('uses the new directory in the next run after a root was removed and created again', async () => {
    const { root } = createFileTask()
    const run = () => {
      const context = createToolContext({ rootDir: root, isolation: 'none' })
      return runWithToolContext(context, () => bash.execute({ cmd: 'ls' }, call))
    }
    expect(await run()).toBe('')
    const { rmSync } = await import('node:fs')
    rmSync(root, { recursive: true })
    mkdirSync(root)
    writeFileSync(join(root, 'new'), '')
    expect(await run()).toBe('new\n')
  })
})
