import { cpSync, existsSync, globSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { execa } from 'execa'
import { outerEnvironment } from './outer-environment.ts'

/**
 * Copies every file of this checkout that git knows or would add, changed ones as they are, into `directory`, makes it a
 * repository of its own and installs its dependencies. The checkout stays as it is.
 */
export async function copyCheckout(directory: string): Promise<void> {
  const { stdout } = await execa('git', [
    'ls-files',
    '-z',
    '--cached',
    '--others',
    '--exclude-standard',
  ])
  for (const path of new Set(stdout.split('\0'))) {
    // A deleted file is still listed.
    if (path === '' || !existsSync(path)) continue
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    cpSync(path, join(directory, path), { verbatimSymlinks: true })
  }
  await git(directory, 'init', '--quiet', '--initial-branch=main')
  await git(directory, 'add', '--all')
  await git(directory, 'commit', '--quiet', '--message=Rehearse a release')
  await inCopy(directory, 'pnpm', 'install', '--frozen-lockfile', '--prefer-offline')
}

/** Takes what `pnpm build` left in this checkout. */
export function copyBuilds(directory: string): void {
  const builds = globSync('packages/*/dist')
  const packages = globSync('packages/*/package.json')
  if (builds.length !== packages.length) {
    throw new Error(
      `${packages.length - builds.length} packages are not built: run pnpm build before --built`,
    )
  }
  for (const build of builds) cpSync(build, join(directory, build), { recursive: true })
}

/** Packages whose build holds their version, because their sources import their package.json. */
export function packagesWithVersion(): string[] {
  const sources = globSync('packages/*/src/**/*.ts').filter((file) =>
    /from '[./]*\/package\.json'/.test(readFileSync(file, 'utf8')),
  )
  return [...new Set(sources.map((file) => file.split(/[/\\]/)[1] ?? ''))]
}

/** Runs a command in the copy, showing what it prints only when it fails. */
export async function inCopy(directory: string, file: string, ...args: string[]): Promise<string> {
  const result = await execa(file, args, {
    cwd: directory,
    env: outerEnvironment({
      CI: 'true',
      NPM_CONFIG_PROVENANCE: 'false',
      PNPM_CONFIG_PROVENANCE: 'false',
      TURBO_TELEMETRY_DISABLED: '1',
    }),
    extendEnv: false,
    all: true,
    reject: false,
    stdin: 'ignore',
  })
  if (result instanceof Error) throw result
  return result.all
}

async function git(directory: string, ...args: string[]): Promise<void> {
  const author = ['-c', 'user.name=rehearsal', '-c', 'user.email=rehearsal@localhost']
  await execa('git', [...author, '-c', 'commit.gpgsign=false', ...args], {
    cwd: directory,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}
