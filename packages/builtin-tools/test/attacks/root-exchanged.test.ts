import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createBuiltinTools } from '@smithers/builtin-tools'
import { createSandbox, type IsolationBackendName, SandboxError } from '@smithers/sandbox'
import { createToolRun, type ToolRun } from '@smithers/tool-core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const options = { toolCallId: 'c', messages: [] }
const patch = `--- a/secret
+++ b/secret
@@ -1,1 +1,1 @@
-of another project
+changed
`

let base: string
let rootDir: string
let other: string

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'smithers-exchanged-'))
  rootDir = join(base, 'root')
  other = join(base, 'other')
  for (const directory of [rootDir, other]) mkdirSync(directory)
  writeFileSync(join(rootDir, 'secret'), 'own\n')
  writeFileSync(join(other, 'secret'), 'of another project\n')
})

afterEach(() => rmSync(base, { recursive: true, force: true }))

function exchange(kind: 'a link' | 'a directory'): void {
  renameSync(rootDir, `${rootDir}-moved`)
  if (kind === 'a link') symlinkSync(other, rootDir)
  else renameSync(other, rootDir)
}

async function works(backend: IsolationBackendName): Promise<boolean> {
  try {
    const sandbox = await createSandbox({
      rootDir: tmpdir(),
      isolation: { require: [], backend },
      warn() {},
    })
    await sandbox.close()
    return true
  } catch (error) {
    if (SandboxError.isInstance(error)) return false
    throw error
  }
}

const backends = ['none', 'namespaces', 'bubblewrap', 'landlock'] as const
const working: (typeof backends)[number][] = []
for (const backend of backends) if (await works(backend)) working.push(backend)

describe.each(working)('a root exchanged between two calls, with %s', (backend) => {
  const bundle = createBuiltinTools({ isolation: { require: [], backend }, warn: () => {} })

  /** The outcome of each tool: its output, or the code of its error. */
  const useAll = async (run: ToolRun): Promise<Record<string, unknown>> => {
    const { read, write, edit, grep, bash } = run.tools(bundle)
    const outcomeOf = (call: Promise<unknown>): Promise<unknown> =>
      call.catch((error: { code?: string }) => error.code)
    return {
      read: await outcomeOf(read.execute({ path: 'secret' }, options)),
      grep: await outcomeOf(grep.execute({ pattern: 'project' }, options)),
      bash: await outcomeOf(
        bash.execute({ cmd: 'sh', args: ['-c', 'cat secret; echo x > by-bash'] }, options),
      ),
      write: await outcomeOf(write.execute({ path: 'written', content: 'x' }, options)),
      edit: await outcomeOf(edit.execute({ path: 'secret', patch }, options)),
    }
  }

  it.each(['a link', 'a directory'] as const)(
    'for %s stops every tool of the run',
    async (kind) => {
      const run = createToolRun({ runId: `run-${backend}-${kind}`, rootDir })
      const { read, bash } = run.tools(bundle)
      expect(await read.execute({ path: 'secret' }, options)).toBe('own\n')
      expect(await bash.execute({ cmd: 'cat', args: ['secret'] }, options)).toBe('own\n')
      exchange(kind)
      expect(await useAll(run)).toEqual(
        Object.fromEntries(
          ['read', 'grep', 'bash', 'write', 'edit'].map((tool) => [tool, 'TOOL_ROOT_CHANGED']),
        ),
      )
      expect(readdirSync(rootDir)).toEqual(['secret'])
      expect(readFileSync(join(rootDir, 'secret'), 'utf8')).toBe('of another project\n')

      // The control: a run that begins now works there, so the exchange itself is no obstacle.
      const later = await useAll(createToolRun({ runId: `later-${backend}-${kind}`, rootDir }))
      expect(later).toMatchObject({ read: 'of another project\n', write: 'ok', edit: 'ok' })
      expect(existsSync(join(rootDir, 'by-bash'))).toBe(true)
    },
  )

  it('and put back serves the run again', async () => {
    const run = createToolRun({ runId: `back-${backend}`, rootDir })
    expect((await useAll(run))['write']).toBe('ok')
    exchange('a link')
    expect((await useAll(run))['read']).toBe('TOOL_ROOT_CHANGED')
    rmSync(rootDir)
    renameSync(`${rootDir}-moved`, rootDir)
    expect((await useAll(run))['read']).toBe('own\n')
  })
})

describe('a root exchanged between two calls outside runs', () => {
  it('stops the second call', async () => {
    const { read } = createBuiltinTools({ rootDir })
    expect(await read.execute({ path: 'secret' }, options)).toBe('own\n')
    exchange('a link')
    await expect(read.execute({ path: 'secret' }, options)).rejects.toMatchObject({
      code: 'TOOL_ROOT_CHANGED',
    })
  })
})
