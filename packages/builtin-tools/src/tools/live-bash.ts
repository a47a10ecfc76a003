import { StringDecoder } from 'node:string_decoder'
import type { OutputChunk, OutputStream } from '@smithers/sandbox'
import { readOptions } from '@smithers/sandbox/options'
import { defineTool, type StreamingTool, type ToolContext } from '@smithers/tool-core'
import { bashParts, commandText, endsWithCommand } from './bash.ts'
import { type BashInput, bashSchema } from '../command/bash-input.ts'
import { type BundleOptions, bundleOptionReaders } from '../bundle/bundle-options.ts'
import { closable, type ClosableTools } from '../bundle/bundle-lifetime.ts'
import { closeRootsOf } from '../bundle/sandbox-for-context.ts'
import { answerCommand } from '../command/run-command.ts'

/** Characters of output that a view shows. */
const maxShown = 50_000

/** Between two views, in milliseconds: fast enough to read along, slow enough to send. */
const shortestMs = 100

/** A view comes at least so often, also when nothing was printed: only then can a consumer end the command. */
const longestMs = 1_000

/**
 * Creates a `bash` that shows what a command prints while it runs: an async generator whose values are the output so far
 * (its last 50 000 characters), which the AI SDK hands to a user interface as preliminary results. The last value is the
 * result, as of `bash`; a failure is thrown. A consumer that stops listening ends the command.
 *
 * @throws SandboxError `INVALID_INPUT` for an unknown option or a value of the wrong type
 */
export function createLiveBash(
  options: BundleOptions = {},
): StreamingTool<BashInput, string, 'bash'> & ClosableTools {
  const bundle: BundleOptions = Object.freeze(readOptions(options, bundleOptionReaders))
  const tool = defineTool({
    ...bashParts(bashSchema, bundle, endsWithCommand),
    execute: async function* (input, ctx) {
      yield* viewsOf(input, ctx, bundle)
    },
    toModelOutput: (given) => commandText(given),
  })
  return closable(tool, bundle, closeRootsOf)
}

async function* viewsOf(
  input: BashInput,
  ctx: ToolContext,
  options: BundleOptions,
): AsyncGenerator<string> {
  const abandoned = new AbortController()
  const view = new LiveView()
  const signal = AbortSignal.any([ctx.abortSignal, abandoned.signal])
  const answer = answerCommand(input, ctx, options, { signal, onOutput: view.take })
  let isRunning = true
  const ended = answer.then(
    () => (isRunning = false),
    () => (isRunning = false),
  )
  try {
    for (;;) {
      await Promise.race([ended, view.changed(longestMs)])
      await Promise.race([ended, pause(shortestMs)])
      if (!isRunning) break
      yield view.text
    }
    yield await answer
  } finally {
    abandoned.abort()
    await ended
  }
}

/** The end of what a command has printed so far. */
class LiveView {
  text = ''
  #isNew = false
  #wake: () => void = () => {}
  readonly #decoders: Record<OutputStream, StringDecoder> = {
    stdout: new StringDecoder(),
    stderr: new StringDecoder(),
  }

  readonly take = ({ stream, bytes }: OutputChunk): void => {
    this.text = (this.text + this.#decoders[stream].write(Buffer.from(bytes))).slice(-maxShown)
    this.#isNew = true
    this.#wake()
  }

  /** Waits for more, at most so long. */
  async changed(longest: number): Promise<void> {
    if (!this.#isNew) {
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      await Promise.race([promise, pause(longest)])
    }
    this.#isNew = false
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds).unref())
}
