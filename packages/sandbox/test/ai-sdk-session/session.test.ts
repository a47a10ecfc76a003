import { randomInt } from 'node:crypto'
import { text } from 'node:stream/consumers'
import type { Experimental_SandboxSession as AiSandboxSession } from 'ai'
import { expect, test } from 'vitest'
import { livingProcesses } from '../fixtures/living-processes.ts'
import { describeIsolations, newSandbox } from '../fixtures/sandboxes.ts'

const textOf = (stream: ReadableStream<Uint8Array>) => text(stream)

describeIsolations('sandbox.session', (isolation) => {
  // The annotation is a test too: the shape must be the AI SDK's.
  const open = async (): Promise<AiSandboxSession> => (await newSandbox({ isolation })).session()

  test('runs a command line in a shell, with its directory and variables', async () => {
    const session = await open()
    await session.writeTextFile({ path: 'sub/a.txt', content: 'hello\n' })
    expect(
      await session.run({
        command: 'cat a.txt | tr a-z "$CASE"; echo why >&2; exit 3',
        workingDirectory: 'sub',
        env: { CASE: 'A-Z' },
      }),
    ).toEqual({ exitCode: 3, stdout: 'HELLO\n', stderr: 'why\n' })
    expect(await session.readTextFile({ path: 'sub/a.txt' })).toBe('hello\n')
  })

  test('describes to the agent only what is enforced', async () => {
    const sandbox = await newSandbox({ isolation })
    const { description } = sandbox.session()
    const { files, network } = sandbox.report.enforced
    expect(description).toContain('File methods are confined to the root directory')
    expect(description.includes('can change nothing outside')).toBe(files === 'enforced')
    expect(description.includes('all rights of the user')).toBe(files === 'none')
    const denying = await newSandbox({ isolation, files: { deny: ['.env'] } })
    expect(denying.session().description.includes('do not hold for them')).toBe(
      denying.report.enforced.files === 'partial',
    )
    expect(description.includes('The network is off')).toBe(network === 'enforced')
  })

  test('rejects with the reason of an abort, and with the error of what did not run', async () => {
    const session = await open()
    const reason = new Error('enough')
    await expect(
      session.run({ command: 'true', abortSignal: AbortSignal.abort(reason) }),
    ).rejects.toBe(reason)
    await expect(session.run({ command: 'true', workingDirectory: '..' })).rejects.toMatchObject({
      code: 'TOOL_PATH_ESCAPE',
    })
    await expect(
      session.spawn({ command: 'true', workingDirectory: 'nowhere' }),
    ).rejects.toMatchObject({
      code: 'TOOL_SPAWN_FAILED',
    })
  })

  test('streams what a spawned command prints and waits for its end', async () => {
    const session = await open()
    const child = await session.spawn({ command: 'echo out; echo err >&2; exit 4' })
    expect(await Promise.all([textOf(child.stdout), textOf(child.stderr)])).toEqual([
      'out\n',
      'err\n',
    ])
    expect(await child.wait()).toEqual({ exitCode: 4 })
  })

  test('ends although the streams are not read', async () => {
    const session = await open()
    const child = await session.spawn({ command: 'head -c 500000 /dev/zero; echo done >&2' })
    expect(await child.wait()).toEqual({ exitCode: 0 })
    expect((await textOf(child.stdout)).length).toBe(500_000)
  })

  test('pauses a command whose output is not read, and resumes it when it is', async () => {
    const session = await open()
    const child = await session.spawn({ command: 'head -c 20000000 /dev/zero; echo done >&2' })
    const reader = child.stderr.getReader()
    const done = reader.read().then(({ value }) => Buffer.from(value ?? []).toString())
    const early = await Promise.race([
      done,
      new Promise((resolve) => {
        setTimeout(resolve, 300, 'held back')
      }),
    ])
    expect(early).toBe('held back')
    expect((await textOf(child.stdout)).length).toBe(20_000_000)
    expect(await done).toBe('done\n')
    expect(await child.wait()).toEqual({ exitCode: 0 })
  })

  test('writes to a command that was spawned with stdin', async () => {
    const session = await open()
    const child = await session.spawn({ command: 'tr a-z A-Z', stdin: true })
    const writer = child.stdin.getWriter()
    await writer.write(Buffer.from('hello '))
    await writer.write(Buffer.from('there'))
    await writer.close()
    expect(await textOf(child.stdout)).toBe('HELLO THERE')
    expect(await child.wait()).toEqual({ exitCode: 0 })
  })

  test('kills a spawned command with everything it started', async () => {
    const session = await open()
    // Of one length: none is the beginning of another's.
    const marker = `86200.${randomInt(1e13, 1e14)}`
    const child = await session.spawn({ command: `setsid sleep ${marker} & sleep ${marker}` })
    await expect.poll(() => livingProcesses(`sleep\0${marker}`).length).toBe(2)
    await child.kill()
    await child.kill()
    await expect.poll(() => livingProcesses(marker)).toEqual([])
    expect(await child.wait()).toEqual({ exitCode: 137 })
  })

  test('kills a spawned command when its signal aborts, and rejects with the reason', async () => {
    const session = await open()
    const abort = new AbortController()
    const child = await session.spawn({ command: 'exec sleep 86400', abortSignal: abort.signal })
    const reason = new Error('enough')
    abort.abort(reason)
    await expect(child.wait()).rejects.toBe(reason)
  })
})
