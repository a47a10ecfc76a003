/** Where the canary's traps are; passed to the program as JSON in its last argument. */
export interface CanaryTraps {
  readonly inside: string
  readonly outside: string
  readonly secret: string
  readonly port: number
  /** Path of a unix socket, and the name of one without a path (Linux). */
  readonly sockets: readonly string[]
}

/** What the canary reports about itself, one JSON line. */
export interface CanaryReport {
  readonly secret: string | null
  readonly connected: readonly string[]
  readonly userNamespace: boolean
  readonly systemSettings: boolean
  readonly seccomp: string | null
}

/**
 * The program that tries, inside, whatever must not succeed: plain JavaScript for `node -e`. It changes nothing if it
 * does succeed: the setting is opened for writing, never written.
 */
export const canaryProgram = `
const fs = require('node:fs'), net = require('node:net'), { spawn, spawnSync } = require('node:child_process')
const traps = JSON.parse(process.argv.at(-1))
const attempt = (action) => { try { return action() ?? true } catch { return null } }
const connects = (where) => new Promise((resolve) => {
  const socket = net.connect(where)
  const end = (connected) => { socket.destroy(); resolve(connected) }
  socket.once('connect', () => end(true)).once('error', () => end(false)).setTimeout(1000, () => end(false))
})
const main = async () => {
  attempt(() => fs.writeFileSync(traps.outside, 'canary'))
  const connected = []
  for (const where of [{ host: '127.0.0.1', port: traps.port }, ...traps.sockets.map((path) => ({ path }))]) {
    if (await connects(where).catch(() => false)) connected.push(where.path ?? 'tcp')
  }
  const report = {
    secret: attempt(() => fs.readFileSync(traps.secret, 'utf8')),
    connected,
    userNamespace: spawnSync('unshare', ['--user', 'true']).status === 0,
    systemSettings: attempt(() => fs.closeSync(fs.openSync('/proc/sys/vm/overcommit_memory', 'r+'))) !== null,
    seccomp: attempt(() => /^Seccomp:\\s*(\\d)/m.exec(fs.readFileSync('/proc/self/status', 'latin1'))[1]),
  }
  // Leaves its session and keeps the pipe: whether it dies with the command shows as the pipe's end.
  spawn('sleep', ['30'], { detached: true, stdio: ['ignore', 'inherit', 'ignore'] }).on('error', () => {}).unref()
  fs.writeFileSync(traps.inside, 'canary')
  fs.writeSync(1, JSON.stringify(report) + '\\n')
  process.exit(0)
}
main()
`
