import { connectorPath } from '../../egress/environment.ts'
import { findProgram } from '../confine/program.ts'
import type { ProxyAddress } from '../isolation-policy.ts'
import { SandboxError } from '../../errors/sandbox-error.ts'
import { sharedAnonymousFile } from './handed-descriptors.ts'

const socket = '/run/smithers/proxy'

/** Mounts the forwarder and the socket that it leads to, which gives a command no more than the port does. */
export function forwarderMounts(
  proxy: ProxyAddress | undefined,
  pass: (descriptor: number) => string,
): string[] {
  if (proxy === undefined) return []
  const copy = pass(sharedAnonymousFile(programContents()))
  return [
    '--perms',
    '0555',
    '--ro-bind-data',
    copy,
    connectorPath,
    '--bind',
    proxy.socketPath,
    socket,
  ]
}

/** A command line with the forwarder as the command's parent. It writes to `failed` when it could not start the command. */
export function withForwarder(
  argv: readonly string[],
  proxy: ProxyAddress | undefined,
  failed: number,
): readonly string[] {
  if (proxy === undefined) return argv
  return [connectorPath, 'forward', socket, String(proxy.port), String(failed), ...argv]
}

let contents: Buffer | undefined

function programContents(): Buffer {
  if (contents !== undefined) return contents
  const found = findProgram()
  if ('why' in found) {
    throw new SandboxError(
      'TOOL_ISOLATION_UNAVAILABLE',
      `network: { allow } needs this package's own program. ${found.why} ${found.fix}`,
      { details: { option: 'network' }, effect: 'none' },
    )
  }
  contents = found.contents
  return contents
}
