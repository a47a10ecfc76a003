import { isIP } from 'node:net'

/** Why an argument looks like a network address, as a clause for a message; `null` when it does not. */
export function networkArgument(argument: string): string | null {
  const shown = JSON.stringify(argument.length > 100 ? `${argument.slice(0, 100)}…` : argument)
  if (argument.includes('://')) return `the argument ${shown} contains a URL`
  if (/(?:^|[\s=@/"'])www\.[a-z0-9-]/i.test(argument))
    return `the argument ${shown} names a web host`
  if (/(?:^|[\s=])git@/i.test(argument)) return `the argument ${shown} names a git host`
  if (/--proxy\b|\bhttps?_proxy\b|\ball_proxy\b/i.test(argument)) {
    return `the argument ${shown} sets a proxy`
  }
  if (isAddress(argument)) return `the argument ${shown} is an IP address`
  return null
}

/** Whether the argument is an address, optionally as `option=address`, with a user, a port or a path. */
function isAddress(argument: string): boolean {
  const value = /^-{0,2}[\w-]+=(.*)$/s.exec(argument)?.[1] ?? argument
  const host = value.replace(/^[^@\s/]*@/, '').replace(/\/.*$/s, '')
  const bracketed = /^\[([0-9a-f:.]+)\](?::\d+)?$/i.exec(host)?.[1]
  if (bracketed !== undefined) return isIP(bracketed) === 6
  return isIP(host.replace(/:\d+$/, '')) === 4 || (host.includes('::') && isIP(host) === 6)
}
