import { cpSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { execa } from 'execa'
import { nodeBinary } from '../node-binary.ts'
import { type PackedPackage, tarballDependencies } from '../packed-packages.ts'

const apps = join(import.meta.dirname, 'apps')

/** A command of an app, and the major version of the Node that runs it. */
export interface AppCommand {
  readonly app: string
  readonly command: readonly [string, ...string[]]
  readonly node?: number
}

/** In a `package.json` of an app: all packages of this workspace. */
const everyPackage = '@smithers/*'

/** Node for programs that do not say which. */
const usualNode = 24

/** Copies of the apps with the packed packages installed, each made when a row first asks for it. */
export class Workshop {
  readonly packed: ReadonlyMap<string, PackedPackage>
  readonly #directory: string
  readonly #installed = new Map<string, Promise<string>>()
  readonly #nodes = new Map<number, Promise<string>>()

  constructor(directory: string, packed: ReadonlyMap<string, PackedPackage>) {
    this.#directory = directory
    this.packed = packed
  }

  /** The directory of an app, installed. */
  app(name: string): Promise<string> {
    let installed = this.#installed.get(name)
    if (installed === undefined) this.#installed.set(name, (installed = this.#install(name)))
    return installed
  }

  /** Makes an app of its own of a folder in an app, away from the packages that are installed there. */
  async moveOut(name: string, folder: string, newName: string): Promise<void> {
    const moved = join(this.#directory, newName)
    renameSync(join(await this.app(name), folder), moved)
    this.#installed.set(newName, Promise.resolve(moved))
  }

  /** The directory with the program of that Node, from npm. */
  async nodeDirectory(major: number = usualNode): Promise<string> {
    let path = this.#nodes.get(major)
    if (path === undefined) this.#nodes.set(major, (path = nodeBinary(major, this.#directory)))
    return dirname(await path)
  }

  /**
   * Runs a command in an app, with the app's own programs and Node first on PATH.
   *
   * @returns what it printed on standard output
   * @throws Error with everything that it printed when it fails
   */
  async run({ app, command: [file, ...args], node }: AppCommand): Promise<string> {
    const { cwd, env } = await this.surroundings(app, node)
    const { stdout, all, failed } = await execa(file, args, {
      cwd,
      env,
      extendEnv: false,
      all: true,
      reject: false,
      stdin: 'ignore',
      timeout: 300_000,
    })
    if (failed) throw new Error(`${[file, ...args].join(' ')} in ${app} failed:\n${all}`)
    return stdout
  }

  /** Where a command of an app runs. */
  async surroundings(
    app: string,
    node?: number,
  ): Promise<{ readonly cwd: string; readonly env: Readonly<Record<string, string>> }> {
    const cwd = await this.app(app)
    const path = [
      join(cwd, 'node_modules/.bin'),
      await this.nodeDirectory(node),
      process.env['PATH'] ?? '',
    ]
    const { HOME = '/' } = process.env
    return {
      cwd,
      // Nothing that pnpm or npx told this process; and no telemetry of the bundlers.
      env: { PATH: path.join(delimiter), HOME, NEXT_TELEMETRY_DISABLED: '1', NO_COLOR: '1' },
    }
  }

  async #install(name: string): Promise<string> {
    const project = join(this.#directory, name)
    mkdirSync(project, { recursive: true })
    cpSync(join(apps, 'shared'), project, { recursive: true })
    cpSync(join(apps, name), project, { recursive: true })
    const file = join(project, 'package.json')
    const manifest = JSON.parse(readFileSync(file, 'utf8')) as {
      dependencies: Record<string, string>
    }
    const { [everyPackage]: every, ...named } = manifest.dependencies
    const ours = [...this.packed.keys()].filter((each) => every !== undefined || each in named)
    const dependencies = { ...named, ...tarballDependencies(project, ours, this.packed) }
    writeFileSync(file, JSON.stringify({ ...manifest, dependencies }))
    const args = ['install', '--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline']
    await execa('npm', args, { cwd: project, stdio: ['ignore', 'ignore', 'inherit'] })
    return project
  }
}
