import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { execa } from 'execa'
import { outerEnvironment } from './outer-environment.ts'

/** Pinned: the rehearsal must not change because its registry did. */
const verdaccio = '6.10.4'

/** A registry of our own packages on this machine. It knows no other registry and holds nothing but `@smithers/*`. */
export class LocalRegistry {
  readonly url: string
  readonly #end: () => Promise<void>

  private constructor(url: string, end: () => Promise<void>) {
    this.url = url
    this.#end = end
  }

  /** Installs the registry into `directory`, outside the workspace: only a rehearsal needs its 320 packages. */
  static async install(directory: string): Promise<void> {
    mkdirSync(directory, { recursive: true })
    writeFileSync(
      join(directory, 'package.json'),
      // Its own range of node-fetch is a dist-tag that not every mirror has.
      JSON.stringify({
        private: true,
        dependencies: { verdaccio },
        overrides: { 'node-fetch': '2.7.0' },
      }),
    )
    const args = ['install', '--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline']
    await execa('npm', args, {
      cwd: directory,
      env: outerEnvironment(),
      extendEnv: false,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  }

  /** Starts what `install` put into `directory`, on a free port of the loopback interface. */
  static async start(directory: string): Promise<LocalRegistry> {
    writeFileSync(join(directory, 'config.yaml'), configuration)
    const port = await freePort()
    const url = `http://127.0.0.1:${port}/`
    const program = join(directory, 'node_modules/verdaccio/bin/verdaccio')
    const child = execa(
      process.execPath,
      [program, '--config', 'config.yaml', '--listen', `127.0.0.1:${port}`],
      { cwd: directory, stdio: 'ignore', reject: false },
    )
    const registry = new LocalRegistry(url, async () => {
      child.kill()
      await child
    })
    let hasEnded = false
    void child.then(() => (hasEnded = true))
    for (let attempt = 0; attempt < 600; attempt += 1) {
      if (hasEnded) throw new Error('verdaccio ended before it answered')
      const answer = await fetch(`${url}-/ping`).catch(() => {})
      if (answer?.ok === true) return registry
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    await registry.close()
    throw new Error('verdaccio did not answer within 60 s')
  }

  /** What an `.npmrc` needs for our packages to come from here; all others come from the usual registry. */
  get npmrc(): string {
    // The token is there because clients refuse to publish without one. The registry asks for none.
    return `@smithers:registry=${this.url}\n//${new URL(this.url).host}/:_authToken=rehearsal\n`
  }

  close(): Promise<void> {
    return this.#end()
  }
}

const configuration = `storage: ./storage
uplinks: {}
packages:
  '@smithers/*':
    access: $all
    publish: $all
max_body_size: 100mb
log: { type: file, path: verdaccio.log, level: warn }
`

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => {
        if (address === null || typeof address === 'string') reject(new Error('no port'))
        else resolve(address.port)
      })
    })
  })
}
