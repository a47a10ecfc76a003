import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { SandboxManager } from '@anthropic-ai/sandbox-runtime'
import { createSandbox, type IsolationBackendName, type Sandbox } from '@smithers/sandbox'

/** Where the origin listens. */
export interface Ports {
  readonly raw: number
  readonly http: number
}

/** A way to run a command. */
export interface NetworkVariant {
  readonly name: string
  /** It reaches the origin. */
  readonly hasNetwork: boolean
  /** Runs a command to its end and returns what it printed. */
  readonly run: (argv: readonly [string, ...string[]]) => Promise<string>
}

const execute = promisify(execFile)

/** All that are compared, `direct` first. `node` is the directory of the installation that the client needs. */
export async function makeNetworkVariants(
  rootDir: string,
  { raw, http }: Ports,
  node: string,
): Promise<{ variants: readonly NetworkVariant[]; close: () => Promise<void> }> {
  const sandboxes: Sandbox[] = []
  const allow = [`127.0.0.1:${raw}`, `127.0.0.1:${http}`]
  const variants: NetworkVariant[] = []
  const add = async (
    name: string,
    backend: IsolationBackendName,
    network: 'none' | 'host' | { allow: string[] },
  ): Promise<void> => {
    const isolation = { require: [], backend }
    const sandbox = await createSandbox({ rootDir, isolation, network, files: { read: [node] } })
    sandboxes.push(sandbox)
    const run: NetworkVariant['run'] = async ([command, ...args]) => {
      const { exitCode, stdout, stderr, hint } = await sandbox.run(command, args)
      if (exitCode !== 0) throw new Error(`${name}: ${command}: ${exitCode} ${stderr} ${hint}`)
      return stdout
    }
    variants.push({ name, hasNetwork: network !== 'none', run })
  }
  await add('direct', 'namespaces', 'host')
  await add("namespaces, 'none'", 'namespaces', 'none')
  await add('namespaces, { allow }', 'namespaces', { allow })
  await add("bubblewrap, 'none'", 'bubblewrap', 'none')
  await add('bubblewrap, { allow }', 'bubblewrap', { allow })
  const runtime = await sandboxRuntime(rootDir, allow)
  if (runtime !== null) variants.push(runtime)
  return {
    variants,
    async close() {
      await Promise.all(sandboxes.map((sandbox) => sandbox.close()))
      await SandboxManager.reset()
    },
  }
}

/** As its users start a command: the command line is made for each, and read by a shell. */
async function sandboxRuntime(rootDir: string, allow: string[]): Promise<NetworkVariant | null> {
  try {
    await SandboxManager.initialize({
      network: { allowedDomains: allow, deniedDomains: [] },
      filesystem: { denyRead: [], allowWrite: [rootDir], denyWrite: [] },
    })
  } catch (error) {
    console.log(`without sandbox-runtime: ${(error as Error).message}`)
    return null
  }
  const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`
  return {
    name: 'sandbox-runtime, allowedDomains',
    hasNetwork: true,
    async run(argv) {
      const line = await SandboxManager.wrapWithSandbox(argv.map(quoted).join(' '))
      const { stdout } = await execute('/bin/sh', ['-c', line], { cwd: rootDir })
      return stdout
    },
  }
}
