import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bash, edit, read, write } from '@smithers/builtin-tools'
import { createSandbox } from '@smithers/sandbox'
import { createToolRun, type ToolCallLog } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const probe = await createSandbox({ rootDir: tmpdir(), files: { deny: ['x'] }, warn: () => {} })
const { report } = probe
const hidesDenied = report.enforced.files === 'enforced'
probe.close()

let rootDir: string
let path: string

beforeEach(() => {
  rootDir = mkdtempSync(join(tmpdir(), 'smithers-log-root-'))
  path = join(rootDir, 'calls.db')
  writeFileSync(path, 'approved: no')
})

afterEach(() => rmSync(rootDir, { recursive: true }))

/** The tools in a run whose log says that these files hold it. */
function tools(files: readonly string[]) {
  const log: ToolCallLog = { ...createMemoryLog(), files }
  return createToolRun({ runId: 'r', rootDir, log }).tools({ read, write, edit, bash })
}

const options = { toolCallId: 'c', messages: [] }
const forge = { cmd: 'sh', args: ['-c', 'cat calls.db; echo approved: yes > calls.db'] }

describe('a log beneath the root of an agent', () => {
  it.each(['calls.db', './calls.db', 'calls.db-wal'])(
    'is denied to the file tools as %s',
    async (name) => {
      const { read: reads, write: writes } = tools([path, `${path}-wal`])
      const denied = { code: 'TOOL_PATH_DENIED' }
      await expect(reads.execute({ path: name }, options)).rejects.toMatchObject(denied)
      const forged = { path: name, content: 'approved: yes' }
      await expect(writes.execute(forged, options)).rejects.toMatchObject(denied)
      expect(readFileSync(path, 'utf8')).toBe('approved: no')
      expect(existsSync(`${path}-wal`)).toBe(false)
    },
  )

  it('is hidden from commands, or the report says that it is not', async () => {
    if (!hidesDenied) {
      expect(report.notEnforced).toContainEqual(expect.objectContaining({ what: 'files' }))
      expect(report.enforced.files).toBe(report.backend === 'none' ? 'none' : 'partial')
      return
    }
    const printed = await tools([path]).bash.execute(forge, options).catch(String)
    expect(printed).not.toContain('approved: no')
    expect(readFileSync(path, 'utf8')).toBe('approved: no')
  })

  it('leaves the other files of the root to the tools', async () => {
    await tools([path]).write.execute({ path: 'calls.txt', content: 'mine' }, options)
    expect(readFileSync(join(rootDir, 'calls.txt'), 'utf8')).toBe('mine')
  })

  it('can be forged by tools that do not know of it, as a control', async () => {
    await tools([]).bash.execute(forge, options)
    expect(readFileSync(path, 'utf8')).toBe('approved: yes\n')
    await tools([]).write.execute({ path: 'calls.db', content: 'approved: all' }, options)
    expect(readFileSync(path, 'utf8')).toBe('approved: all')
  })
})
