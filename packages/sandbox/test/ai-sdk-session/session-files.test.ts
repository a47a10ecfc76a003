import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Experimental_SandboxSession as SandboxSession, generateText, tool } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { createSessionFiles } from '../../src/ai-sdk-session/session-files.ts'
import type { SessionFiles } from '../../src/ai-sdk-session/session-types.ts'
import { createWorkspace } from '../fixtures/workspace.ts'

function session(contents: Record<string, string> = {}) {
  const { files, ...places } = createWorkspace(contents)
  return { ...places, session: createSessionFiles(files) }
}

describe('createSessionFiles', () => {
  it('has the file methods of the AI SDK, with types that fit', () => {
    expectTypeOf<SessionFiles>().toExtend<Omit<SandboxSession, 'description' | 'run' | 'spawn'>>()
  })

  it('reads bytes, text and streams, and null for what does not exist', async () => {
    const text = 'é'.repeat(100_000)
    const { session: view } = session({ f: text })
    expect(await view.readTextFile({ path: 'f' })).toBe(text)
    expect(Buffer.from((await view.readBinaryFile({ path: 'f' })) ?? []).toString()).toBe(text)
    const stream = await view.readFile({ path: 'f' })
    expect(await new Response(stream).text()).toBe(text)
    expect(await view.readFile({ path: 'none' })).toBeNull()
    expect(await view.readBinaryFile({ path: 'none/f' })).toBeNull()
    expect(await view.readTextFile({ path: 'none', startLine: 1 })).toBeNull()
  })

  it.each([
    [{ startLine: 2, endLine: 2 }, 'b'],
    [{ startLine: 2 }, 'b\nc\n'],
    [{ endLine: 2 }, 'a\nb'],
    [{ endLine: 99 }, 'a\nb\nc\n'],
    [{ startLine: 9 }, ''],
  ])('reads the lines %o as the AI SDK counts them', async (range, expected) => {
    const { session: view } = session({ f: 'a\nb\nc\n' })
    expect(await view.readTextFile({ path: 'f', ...range })).toBe(expected)
  })

  it('reads and writes other encodings, and refuses those it does not know', async () => {
    const { root, session: view } = session()
    await view.writeTextFile({ path: 'f', content: 'café', encoding: 'latin1' })
    expect(readFileSync(join(root, 'f'))).toEqual(Buffer.from('caf\xe9', 'latin1'))
    expect(await view.readTextFile({ path: 'f', encoding: 'latin1' })).toBe('café')
    await expect(
      view.writeTextFile({ path: 'f', content: 'x', encoding: 'klingon' }),
    ).rejects.toThrow('klingon')
  })

  it('writes bytes, text and streams, creating directories', async () => {
    const { root, session: view } = session()
    await view.writeBinaryFile({ path: 'a/bytes', content: new Uint8Array([1, 2]) })
    await view.writeTextFile({ path: 'a/text', content: 'text' })
    const content = new Response('streamed').body as unknown as ReadableStream<Uint8Array>
    await view.writeFile({ path: 'a/stream', content })
    expect(readFileSync(join(root, 'a/bytes'))).toEqual(Buffer.from([1, 2]))
    expect(readFileSync(join(root, 'a/text'), 'utf8')).toBe('text')
    expect(readFileSync(join(root, 'a/stream'), 'utf8')).toBe('streamed')
    await expect(view.writeTextFile({ path: 'a', content: 'x' })).rejects.toThrow('directory')
  })

  it('describes, lists and deletes', async () => {
    const { root, session: view } = session({ 'd/f': 'text' })
    symlinkSync('f', join(root, 'd/link'))
    expect(await view.stat({ path: 'd/link' })).toEqual({ type: 'file', size: 4 })
    expect(await view.stat({ path: 'none' })).toBeNull()
    expect(await view.listDirectory({ path: 'd' })).toEqual([
      { name: 'f', type: 'file' },
      { name: 'link', type: 'symlink' },
    ])
    expect(await view.listDirectory({ path: 'none' })).toBeNull()
    await expect(view.listDirectory({ path: 'd/f' })).rejects.toThrow('not a directory')
    expect(await view.deleteFile({ path: 'd/link' })).toBe(true)
    expect(await view.deleteFile({ path: 'd/link' })).toBe(false)
    await expect(view.deleteFile({ path: 'd' })).rejects.toThrow('directory')
    expect(readFileSync(join(root, 'd/f'), 'utf8')).toBe('text')
  })

  it('does nothing for a signal that has been aborted', async () => {
    const { root, session: view } = session({ f: 'old' })
    const abortSignal = AbortSignal.abort(new Error('stopped'))
    await expect(view.writeTextFile({ path: 'f', content: 'new', abortSignal })).rejects.toThrow(
      'stopped',
    )
    await expect(view.readTextFile({ path: 'f', abortSignal })).rejects.toThrow('stopped')
    expect(readFileSync(join(root, 'f'), 'utf8')).toBe('old')
  })

  it('confines an AI SDK tool that works on experimental_sandbox', async () => {
    const { root, outside, session: view } = session({ 'notes.txt': 'milk\n' })
    const copy = tool({
      description: 'Copies a file.',
      inputSchema: z.object({ from: z.string(), to: z.string() }),
      async execute({ from, to }, { experimental_sandbox: sandbox }) {
        const content = await sandbox?.readTextFile({ path: from })
        await sandbox?.writeTextFile({ path: to, content: content ?? '' })
        return 'copied'
      },
    })
    writeFileSync(join(outside, 'passwd'), 'SECRET')
    const calls = [
      { from: 'notes.txt', to: 'copy/notes.txt' },
      { from: join(outside, 'passwd'), to: 'stolen.txt' },
      { from: 'notes.txt', to: join(outside, 'planted.txt') },
    ]
    const unavailable = async () => {
      throw new Error('This test starts no processes.')
    }
    const { toolResults, content } = await generateText({
      model: new MockLanguageModelV4({
        doGenerate: async () => ({
          content: calls.map((input, index) => ({
            type: 'tool-call' as const,
            toolCallId: `call-${index}`,
            toolName: 'copy',
            input: JSON.stringify(input),
          })),
          finishReason: { unified: 'tool-calls', raw: undefined },
          usage: {
            inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
            outputTokens: { total: 1, text: 1, reasoning: 0 },
          },
          warnings: [],
        }),
      }),
      prompt: 'Copy.',
      tools: { copy },
      experimental_sandbox: { description: 'files', ...view, run: unavailable, spawn: unavailable },
    })
    expect(toolResults.map(({ output }) => output)).toEqual(['copied'])
    const errors = content.filter((part) => part.type === 'tool-error').map(({ error }) => error)
    expect(errors).toEqual([
      expect.objectContaining({ code: 'TOOL_PATH_ESCAPE' }),
      expect.objectContaining({ code: 'TOOL_PATH_ESCAPE' }),
    ])
    expect(readFileSync(join(root, 'copy/notes.txt'), 'utf8')).toBe('milk\n')
    expect(await view.stat({ path: 'stolen.txt' })).toBeNull()
    expect(() => readFileSync(join(outside, 'planted.txt'))).toThrow('ENOENT')
  })
})
