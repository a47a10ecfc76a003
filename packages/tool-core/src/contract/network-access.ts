import type { MaybePromise } from '../async/maybe-promise.ts'

/** A connection that a command asks for, and what the rules say of it so far. */
export interface HostDecision {
  /** Milliseconds since the epoch. */
  readonly atMs: number
  /** As the command spelled it where it could not be read. */
  readonly host: string
  readonly port: number
  readonly protocol: string
  readonly allowed: boolean
  /** The rule that decides; absent when none matches. */
  readonly rule?: string
  /** What the host resolved to, as far as it was asked. */
  readonly addresses: readonly string[]
  /** Why it is refused; `'not-allowed'` when no rule mentions the host. */
  readonly reason?: string
  /** More than the reason says, in words. */
  readonly detail?: string
}

/** `'ask'`: the connection needs an approval. `{ deny }` also says why. Nothing keeps the decision of the rules. */
export type HostAnswer = 'allow' | 'deny' | 'ask' | { readonly deny: string } | undefined | void

/**
 * Called with each decision before it takes effect. `'deny'` refuses the connection, `'allow'` lets one through that no rule
 * mentions, `'ask'` needs an approval. Neither overrules `deny`, and an error refuses.
 */
export type OnHostDecision = (decision: HostDecision) => MaybePromise<HostAnswer>

/** Which hosts commands may reach, and nothing else. */
export interface NetworkAccess {
  /**
   * `example.com`, `*.example.com` (the names below it), or an address. Ports 80 and 443 unless the rule ends with `:PORT`
   * or `:*`. Empty: nothing.
   */
  readonly allow: readonly string[]
  /** Hosts to refuse whatever `allow` says; every port unless the rule names one. @default [] */
  readonly deny?: readonly string[] | undefined
  /** Decides at run time. `'ask'`: each host that no rule mentions needs an approval. @default the rules decide */
  readonly onDecision?: 'ask' | OnHostDecision | undefined
}

/** What the option `network` takes, to complete the sentence "must be". */
export const expectedNetwork =
  "{ allow: ['example.com'], deny: […], onDecision: 'ask' or a function }"

const names: ReadonlySet<string> = new Set(['allow', 'deny', 'onDecision'])

/** Also refuses names that are not known: a misspelt `deny` must not mean that nothing is denied. */
export function isNetworkAccess(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { allow, deny = [], onDecision } = value as Readonly<Record<string, unknown>>
  const decides =
    onDecision === undefined || onDecision === 'ask' || typeof onDecision === 'function'
  return (
    decides &&
    isRules(allow) &&
    isRules(deny) &&
    Object.keys(value).every((name) => names.has(name))
  )
}

/** A copy that later changes of the original do not reach. */
export function frozenNetwork({ allow, deny = [], onDecision }: NetworkAccess): NetworkAccess {
  return Object.freeze({
    allow: Object.freeze([...allow]),
    deny: Object.freeze([...deny]),
    ...(onDecision === undefined ? {} : { onDecision }),
  })
}

function isRules(value: unknown): boolean {
  return Array.isArray(value) && value.every((rule) => typeof rule === 'string' && rule !== '')
}
