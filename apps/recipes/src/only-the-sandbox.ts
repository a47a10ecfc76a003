// Only @smithers/sandbox: files and commands confined to one directory. No agent, no tools, no log.
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSandbox, SandboxError } from '@smithers/sandbox'

const rootDir = await mkdtemp(join(tmpdir(), 'only-the-sandbox-'))
const sandbox = await createSandbox({ rootDir })

// Files: paths are relative to the root.
await sandbox.files.write('notes/today.txt', 'buy milk\n')
console.log(await sandbox.files.readText('notes/today.txt'))

// Paths that lead outside are refused: dots, absolute paths, links.
await symlink('/etc', join(rootDir, 'way-out'))
for (const path of ['../secret.txt', '/etc/hostname', 'way-out/hostname']) {
  await sandbox.files.readText(path).catch((error: unknown) => {
    console.log(SandboxError.isInstance(error) ? `${path}: ${error.code}` : error)
  })
}

// Commands: the executable and its arguments; no shell reads them.
const counted = await sandbox.run('wc', ['-l', 'notes/today.txt'])
console.log(`${counted.status} ${counted.exitCode}: ${counted.output}`)

// The network is off unless it is asked for. A refused command was never started.
const fetched = await sandbox.run('curl', ['http://127.0.0.1/'])
console.log(`${fetched.status}: ${fetched.error?.code}`)
const push = await sandbox.explain({ type: 'run', command: 'git', args: ['push'] })
console.log(`${push.code}: ${push.option}`)

await sandbox.close()
await rm(rootDir, { recursive: true })
