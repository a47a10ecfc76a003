import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createBuiltinTools } from '@smithers/builtin-tools'
import { createSandbox, SandboxError, type SandboxOptions } from '@smithers/sandbox'
import { createToolRun, type ToolCallLog } from '@smithers/tool-core'
import { createMemoryLog } from '@smithers/tool-core/memory-log'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

const machine = vi.hoisted(() => ({ strongest: 'auto' as SandboxOptions['isolation'] }))

/** A machine on which this is the strongest backend that works. */
vi.mock('@smithers/sandbox', async (load) => {
  const actual = await load<typeof import('@smithers/sandbox')>()
  const onMachine: typeof createSandbox = (options) => {
    const { isolation = 'auto' } = options
    return actual.createSandbox({
      ...options,
      isolation: isolation === 'auto' ? machine.strongest : isolation,
    })
  }
  return { ...actual, createSandbox: onMachine }
})

type Backend = 'namespaces' | 'bubblewrap' | 'landlock' | 'none'

async function works(backend: Backend): Promise<boolean> {
  try {
    const isolation = { require: [], backend }
    const sandbox = await createSandbox({ rootDir: tmpdir(), isolation, warn: () => {} })
    await sandbox.close()
    return true
  } catch (error) {
    if (SandboxError.isInstance(error)) return false
    throw error
  }
}

const hiding: Backend[] = []
for (const backend of ['namespaces', 'bubblewrap'] as const) {
  if (await works(backend)) hiding.push(backend)
}
const showing: Backend[] = (await works('landlock')) ? ['landlock', 'none'] : ['none']

let rootDir: string
let path: string

beforeEach(() => {
  rootDir = mkdtempSync(join(tmpdir(), 'smithers-log-root-'))
  path = join(rootDir, 'calls.db')
  writeFileSync(path, 'approved: no')
  machine.strongest = 'auto'
  warnings.length = 0
})

afterEach(() => rmSync(rootDir, { recursive: true }))

const warnings: string[] = []

/** The tools in a run whose log says that these files hold it. */
function tools(files: readonly string[], isolation: SandboxOptions['isolation'] = 'auto') {
  const log: ToolCallLog = { ...createMemoryLog(), files }
  const bundle = createBuiltinTools({ isolation, warn: (message) => warnings.push(message) })
  return createToolRun({ runId: 'r', rootDir, log }).tools(bundle)
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

  it.each(hiding)('is hidden from commands by %s', async (backend) => {
    machine.strongest = { require: [], backend }
    const printed = await tools([path]).bash.execute(forge, options).catch(String)
    expect(printed).not.toContain('approved: no')
    expect(readFileSync(path, 'utf8')).toBe('approved: no')
  })

  it.each(showing)('stops commands on a machine with %s only', async (backend) => {
    machine.strongest = { require: [], backend }
    await expect(tools([path]).bash.execute(forge, options)).rejects.toMatchObject({
      code: 'TOOL_ISOLATION_UNAVAILABLE',
      effect: 'none',
      message: expect.stringContaining('outside the root'),
    })
    expect(readFileSync(path, 'utf8')).toBe('approved: no')
    // The control: without the rule, this command forges the log.
    await tools([]).bash.execute(forge, options)
    expect(readFileSync(path, 'utf8')).toBe('approved: yes\n')
  })

  it.each(showing)('is reported where the caller names %s', async (backend) => {
    const { bash } = tools([path], { require: [], backend })
    expect(await bash.execute({ cmd: 'echo', args: ['ran'] }, options)).toBe('ran\n')
    await bash.execute({ cmd: 'echo', args: ['again'] }, options)
    expect(warnings.filter((message) => message.includes('"calls.db"'))).toHaveLength(1)
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
