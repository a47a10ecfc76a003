import type { input as SchemaInput, output as SchemaOutput, ZodType } from 'zod'
import type { OptionNames } from './known-options.ts'
import type { ConversationMessage } from './task-context.ts'

/** What JSON can say. */
export type JsonValue =
  | null
  | string
  | number
  | boolean
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue | undefined }

/** Options for single providers, by their names. */
export type ProviderOptions = Readonly<
  Record<string, { readonly [name: string]: JsonValue | undefined }>
>

/** A schema of the AI SDK: one of Zod or of another library with the standard interface, or made with `jsonSchema`. */
export type AiSdkSchema<Value> =
  | {
      readonly '~standard': {
        readonly types?: { readonly input: unknown; readonly output: Value } | undefined
      }
    }
  | { readonly jsonSchema: unknown; readonly _type: Value }

/** What the AI SDK tells a tool of a call before it runs. */
export interface AiSdkCallOptions<Context> {
  readonly toolCallId: string
  readonly messages: readonly ConversationMessage[]
  readonly abortSignal?: AbortSignal | undefined
  /** AI SDK 7. */
  readonly context: Context
  /** AI SDK 7. */
  readonly experimental_sandbox?: unknown
}

/** What a model is shown of an output, as the AI SDK 6 and 7 have it. */
export type ModelOutput = { readonly providerOptions?: ProviderOptions | undefined } & (
  | { readonly type: 'text' | 'error-text'; readonly value: string }
  | { readonly type: 'json' | 'error-json'; readonly value: unknown }
  | { readonly type: 'execution-denied'; readonly reason?: string | undefined }
  | { readonly type: 'content'; readonly value: readonly object[] }
)

/** Fields of an AI SDK tool that are handed on as they are, with the types of AI SDK 7. */
export interface AiSdkFields<Schema extends ZodType, Output, Context> {
  /** What the agent reads, or a function that makes it. @default name */
  readonly description?:
    | string
    | ((options: {
        readonly context: NoInfer<Context>
        readonly experimental_sandbox?: unknown
      }) => string)
  readonly outputSchema?: AiSdkSchema<NoInfer<Output>>
  /** What the model is shown of an output. AI SDK 5 hands over the output alone. */
  readonly toModelOutput?: (options: {
    readonly toolCallId: string
    readonly input: SchemaOutput<Schema>
    readonly output: NoInfer<Output>
  }) => ModelOutput | PromiseLike<ModelOutput>
  readonly strict?: boolean
  /** Inputs as the model writes them. */
  readonly inputExamples?: readonly { readonly input: NoInfer<SchemaInput<Schema>> }[]
  readonly providerOptions?: ProviderOptions
  /** AI SDK 7: what `ctx.context` is. */
  readonly contextSchema?: AiSdkSchema<Context>
  readonly title?: string
  readonly metadata?: { readonly [name: string]: JsonValue | undefined }
  readonly onInputStart?: (options: AiSdkCallOptions<NoInfer<Context>>) => void | PromiseLike<void>
  readonly onInputDelta?: (
    options: AiSdkCallOptions<NoInfer<Context>> & { readonly inputTextDelta: string },
  ) => void | PromiseLike<void>
  readonly onInputAvailable?: (
    options: AiSdkCallOptions<NoInfer<Context>> & { readonly input: SchemaOutput<Schema> },
  ) => void | PromiseLike<void>
}

/** The options that are fields of the AI SDK's tool; a description is always there, so it is set apart. */
export const aiSdkFields: OptionNames<Omit<AiSdkFields<ZodType, unknown, unknown>, 'description'>> =
  {
    outputSchema: true,
    toModelOutput: true,
    strict: true,
    inputExamples: true,
    providerOptions: true,
    contextSchema: true,
    title: true,
    metadata: true,
    onInputStart: true,
    onInputDelta: true,
    onInputAvailable: true,
  }
