import {
  type JSONRPCRequest,
  type Result,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server'

type Handler = (request: JSONRPCRequest, ctx: ServerContext) => Promise<Result>

/** Known to this process alone, so that no client can name it. */
const asSentKey = `as-sent-${crypto.randomUUID()}`

/**
 * A server of the SDK whose handler of `tools/call` gets arguments that are not an object too. The SDK alone would refuse
 * such a call before it has a row. The handler reads the arguments with {@link argumentsAsSent}.
 */
export class CallServer extends Server {
  protected override _wrapHandler(method: string, handler: Handler): Handler {
    // oxlint-disable-next-line no-underscore-dangle -- the SDK's name of its hook for subclasses
    const checked = super._wrapHandler(method, handler)
    if (method !== 'tools/call') return checked
    return (request, ctx) => {
      const { params } = request
      const args = params?.['arguments']
      if (args === undefined || isObject(args)) return checked(request, ctx)
      const wrapped = { ...params, arguments: { [asSentKey]: args } }
      return checked({ ...request, params: wrapped }, ctx)
    }
  }
}

/** The arguments of a call as its client sent them. */
export function argumentsAsSent(args: Readonly<Record<string, unknown>> = {}): unknown {
  return Object.hasOwn(args, asSentKey) ? args[asSentKey] : args
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
