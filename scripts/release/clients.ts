import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import type { LocalRegistry } from './local-registry.ts'
import { outerEnvironment } from './outer-environment.ts'

/** Pinned, as everything that a rehearsal depends on. */
const versions = { bun: '1.4.5', yarn: '4.18.1' }

/** A package manager that users have, with a cache of its own that is empty when the rehearsal begins. */
export interface Client {
  readonly name: string
  readonly version: string
  /** Adds packages to a project. */
  add(project: string, packages: readonly string[]): Promise<void>
  /** Runs a TypeScript file of a project on Node, which finds what `add` installed. */
  run(project: string, args: readonly string[]): Promise<string>
  /** Runs the program of a package that is not installed. */
  execute(project: string, args: readonly string[]): Promise<string>
}

type Command = readonly [file: string, ...args: string[]]

interface ClientCommands {
  readonly name: string
  readonly version: string
  readonly add: Command
  readonly run: Command
  readonly execute: Command
}

/** npm and pnpm of this machine, and yarn and bun installed below `directory`. */
export async function installClients(directory: string): Promise<Client[]> {
  const tools = join(directory, 'tools')
  mkdirSync(tools, { recursive: true })
  writeFileSync(
    join(tools, 'package.json'),
    JSON.stringify({
      private: true,
      dependencies: { '@yarnpkg/cli-dist': versions.yarn, bun: versions.bun },
    }),
  )
  const env = outerEnvironment()
  const install = ['install', '--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline']
  await execa('npm', install, {
    cwd: tools,
    env,
    extendEnv: false,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const version = async (name: string): Promise<string> =>
    (await execa(name, ['--version'], { cwd: tools, env, extendEnv: false, stderr: 'ignore' }))
      .stdout
  const yarn = [
    process.execPath,
    join(tools, 'node_modules/@yarnpkg/cli-dist/bin/yarn.js'),
  ] as const
  const bun = join(tools, 'node_modules/.bin/bun')
  const node: Command = [process.execPath]
  const commands: ClientCommands[] = [
    {
      name: 'npm',
      version: await version('npm'),
      add: ['npm', 'install', '--no-audit', '--no-fund'],
      run: node,
      execute: ['npx', '--yes'],
    },
    {
      name: 'pnpm',
      version: await version('pnpm'),
      add: ['pnpm', 'add'],
      run: node,
      execute: ['pnpm', '--silent', 'dlx'],
    },
    {
      name: 'yarn',
      version: versions.yarn,
      add: [...yarn, 'add'],
      run: [...yarn, 'node'],
      execute: [...yarn, 'dlx', '--quiet'],
    },
    {
      name: 'bun',
      version: versions.bun,
      add: [bun, 'add'],
      run: node,
      execute: [bun, 'x', '--silent'],
    },
  ]
  return commands.map((each) => clientOf(each, join(directory, 'caches', each.name)))
}

function clientOf({ name, version, add, run, execute }: ClientCommands, cache: string): Client {
  const env = outerEnvironment({
    BUN_INSTALL_CACHE_DIR: cache,
    NO_COLOR: '1',
    XDG_CACHE_HOME: join(cache, 'cache'),
    XDG_DATA_HOME: join(cache, 'data'),
    XDG_STATE_HOME: join(cache, 'state'),
    YARN_ENABLE_TELEMETRY: '0',
    YARN_GLOBAL_FOLDER: cache,
    npm_config_cache: cache,
    npm_config_update_notifier: 'false',
  })
  const command = async (
    project: string,
    [file, ...args]: Command,
    more: readonly string[],
  ): Promise<string> => {
    const result = await execa(file, [...args, ...more], {
      cwd: project,
      // `bunx` reads no file of the project, only those of the user; see `emptyProject`.
      env: name === 'bun' ? { ...env, XDG_CONFIG_HOME: project } : env,
      extendEnv: false,
      all: true,
      reject: false,
      stdin: 'ignore',
      timeout: 600_000,
    })
    if (result instanceof Error) throw result
    return result.stdout
  }
  return {
    name,
    version,
    add: async (project, packages) => void (await command(project, add, packages)),
    run: (project, args) => command(project, run, args),
    execute: (project, args) => command(project, execute, args),
  }
}

/** An empty project that gets our packages from `registry` and all others from the usual one. */
export function emptyProject(project: string, registry: LocalRegistry, usual: string): void {
  mkdirSync(project, { recursive: true })
  const write = (file: string, text: string): void => writeFileSync(join(project, file), text)
  write('package.json', JSON.stringify({ private: true, type: 'module' }))
  write('.npmrc', registry.npmrc)
  write('.bunfig.toml', `[install.scopes]\n"@smithers" = "${registry.url}"\n`)
  write(
    '.yarnrc.yml',
    JSON.stringify({
      npmRegistryServer: usual,
      npmScopes: { smithers: { npmRegistryServer: registry.url } },
      unsafeHttpWhitelist: ['127.0.0.1'],
      // What was published a minute ago is what a rehearsal installs.
      npmPreapprovedPackages: ['@smithers/*'],
    }),
  )
  // yarn takes a directory with a lockfile for a project of its own, whatever is above it.
  write('yarn.lock', '')
  write('pnpm-workspace.yaml', 'minimumReleaseAge: 0\n')
}
