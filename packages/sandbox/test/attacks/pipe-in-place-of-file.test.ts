import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createWorkspace, openDescriptors } from '../fixtures/workspace.ts'

const refused = expect.objectContaining({ code: 'TOOL_NOT_A_FILE' })

describe.runIf(process.platform === 'linux')(
  'a pipe, socket, device or directory in place of a file',
  () => {
    // Opening a pipe waits for its other end. Were one opened, the whole process would stand still and the test with it.
    it('neither blocks nor is read, written, opened or updated', async () => {
      const { root, files } = createWorkspace({ 'directory/f': '' })
      execFileSync('mkfifo', [join(root, 'pipe')])
      symlinkSync('pipe', join(root, 'link-to-pipe'))
      const server = createServer()
      await new Promise<void>((resolve) => {
        server.listen(join(root, 'socket'), resolve)
      })
      const names = ['pipe', 'link-to-pipe', 'socket', 'directory']
      if (process.getuid?.() === 0) {
        execFileSync('mknod', [join(root, 'device'), 'c', '1', '3'])
        names.push('device')
      }
      await expect(files.read('pipe')).rejects.toThrow(refused)
      const before = openDescriptors()
      for (const name of names) {
        await expect(files.read(name), name).rejects.toThrow(refused)
        await expect(files.readLines(name, { startLine: 2 }), name).rejects.toThrow(refused)
        await expect(files.write(name, 'x'), name).rejects.toThrow(refused)
        await expect(
          files.updateText(name, (text) => text),
          name,
        ).rejects.toThrow(refused)
        for (const access of ['read', 'write', 'append', 'read-write'] as const) {
          await expect(files.open(name, { access, create: true }), name).rejects.toThrow(refused)
        }
      }
      // Closing is asynchronous in libuv's threads; a descriptor that leaks stays open for ever.
      await expect.poll(openDescriptors).toBe(before)
      expect(lstatSync(join(root, 'pipe')).isFIFO()).toBe(true)
      server.close()
    })

    it('is told apart, listed and removed without being opened', async () => {
      const { root, files } = createWorkspace()
      execFileSync('mkfifo', [join(root, 'pipe')])
      expect(await files.stat('pipe')).toMatchObject({ kind: 'fifo' })
      expect(await files.list()).toEqual([{ name: 'pipe', path: 'pipe', kind: 'fifo' }])
      await expect(files.read('pipe')).rejects.toThrow('"pipe" is a fifo, not a regular file.')
      expect(await files.remove('pipe')).toBe(true)
      expect(existsSync(join(root, 'pipe'))).toBe(false)
    })
  },
)
