import { lookup } from 'node:dns/promises'
import { connect, type Socket } from 'node:net'
import { findRefusedAddress } from './addresses.ts'
import type { Host } from './host.ts'
import type { OnNetworkDecision } from './network-options.ts'
import type { NetworkReason, NetworkRecord, OpenDecision } from './network-record.ts'
import { decideByRules, type HostRules } from './rules.ts'

/** The addresses of a name, in the order to try them. */
export type Resolve = (name: string) => Promise<readonly string[]>
/** Starts a connection to the first of these addresses that accepts it. */
export type Dial = (addresses: readonly string[], port: number) => Socket

/** What {@link Judge} decides by. */
export interface JudgeOptions {
  readonly rules: HostRules
  readonly onDecision?: OnNetworkDecision | undefined
  readonly connectMs: number
  /** @default the resolver of the operating system */
  readonly resolve?: Resolve | undefined
  /** @default a TCP connection */
  readonly dial?: Dial | undefined
}

/** A connection that a command asks for. */
export interface ConnectionRequest {
  /** `null`: no host that every program reads alike. */
  readonly host: Host | null
  readonly spelled: string
  readonly port: number
  readonly protocol: OpenDecision['protocol']
}

/** What became of a request, and its record. `host` is absent when the connection is refused. */
export interface Judgement {
  readonly decision: OpenDecision
  readonly host?: Host
  /** A rule names the port, so that any protocol may be spoken. */
  readonly namesPort: boolean
}

/** Of the explanation of a callback, in characters. */
const maxExplanation = 500

/**
 * Decides which connections a command gets, and makes them.
 *
 * *Guarantees*: a name is resolved once, every one of its addresses is judged, and the connection goes to one of these. So
 * a name that changes its address between two questions gains nothing. Fails closed.
 * *Does not protect against* what an allowed host does with what it is sent.
 */
export class Judge {
  readonly #options: JudgeOptions

  constructor(options: JudgeOptions) {
    this.#options = options
  }

  async judge(request: ConnectionRequest, record: NetworkRecord): Promise<Judgement> {
    const { host } = request
    const decision: OpenDecision = {
      atMs: Date.now(),
      host: host?.text ?? request.spelled.slice(0, 253),
      port: request.port,
      protocol: request.protocol,
      allowed: false,
      addresses: [],
      bytesSent: 0,
      bytesReceived: 0,
    }
    const refuse = (reason: NetworkReason): Judgement => {
      decision.allowed = false
      decision.reason = reason
      record.add(decision)
      return { decision, namesPort: false }
    }
    if (host === null) return refuse('invalid-host')
    const ruled = decideByRules(this.#options.rules, host, request.port)
    if (ruled.rule !== null) decision.rule = ruled.rule
    if (!ruled.allowed && ruled.rule !== null) {
      decision.reason = 'denied'
      // To be told, not asked.
      await this.#ask(decision)
      return refuse('denied')
    }
    if (!ruled.allowed) {
      decision.reason = 'not-allowed'
      if ((await this.#ask(decision)) !== 'allow') {
        return refuse(decision.detail === undefined ? 'not-allowed' : 'refused-by-callback')
      }
      delete decision.reason
    }
    decision.allowed = true
    const problem = await this.#findAddresses(host, decision)
    if (problem === 'address-not-public') {
      decision.allowed = false
      decision.reason = problem
    }
    if (ruled.allowed && (await this.#ask(decision)) === 'deny')
      return refuse('refused-by-callback')
    if (problem === 'unresolved') {
      decision.reason = problem
      record.add(decision)
      return { decision, namesPort: false }
    }
    if (problem !== null) return refuse(problem)
    record.add(decision)
    return { decision, host, namesPort: ruled.allowed && ruled.namesPort }
  }

  /** Connects to a judged address. Rejects when none accepts in time; the decision then says so. */
  async connect(decision: OpenDecision): Promise<Socket> {
    const socket = (this.#options.dial ?? dial)(decision.addresses, decision.port)
    try {
      await connected(socket, this.#options.connectMs)
      return socket
    } catch (error) {
      socket.destroy()
      decision.reason = 'unreachable'
      decision.detail = (error as NodeJS.ErrnoException).code ?? 'no answer'
      throw error
    }
  }

  async #ask(decision: OpenDecision): Promise<'allow' | 'deny' | undefined> {
    try {
      const answer = await this.#options.onDecision?.(
        Object.freeze({ ...decision, addresses: Object.freeze([...decision.addresses]) }),
      )
      if (typeof answer === 'object') decision.detail = answer.deny.slice(0, maxExplanation)
      // An answer that is not known must not let a connection pass.
      if (answer === undefined) return undefined
      return answer === 'allow' ? 'allow' : 'deny'
    } catch {
      return 'deny'
    }
  }

  async #findAddresses(
    host: Host,
    decision: OpenDecision,
  ): Promise<'address-not-public' | 'unresolved' | null> {
    const { resolve = resolveBySystem, rules } = this.#options
    try {
      decision.addresses = host.kind === 'address' ? [host.text] : await resolve(host.text)
    } catch {
      return 'unresolved'
    }
    if (decision.addresses.length === 0) return 'unresolved'
    const refused = findRefusedAddress(decision.addresses, decision.port, rules)
    if (refused === null) return null
    decision.detail = refused
    return 'address-not-public'
  }
}

async function resolveBySystem(name: string): Promise<readonly string[]> {
  const answers = await lookup(name, { all: true })
  return answers.map(({ address }) => address)
}

/** Node tries the judged addresses side by side, and asks no resolver of its own. */
function dial(addresses: readonly string[], port: number): Socket {
  const all = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  return connect({
    host: 'judged.invalid',
    port,
    allowHalfOpen: true,
    noDelay: true,
    autoSelectFamily: true,
    lookup: (_name, _options, callback) => callback(null, all),
  })
}

function connected(socket: Socket, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('no answer in time')), timeoutMs)
    // Also what comes after the answer: the connection closes then, and its user sees that.
    socket.on('error', () => {})
    const settle = (act: () => void) => () => {
      clearTimeout(timer)
      act()
    }
    socket.once('connect', settle(resolve))
    socket.once('error', (error) => settle(() => reject(error))())
    socket.once(
      'close',
      settle(() => reject(new Error('closed'))),
    )
  })
}
