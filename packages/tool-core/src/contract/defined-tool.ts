import type { ZodType } from 'zod'
import type { ToolCallOptions } from './tool-call-options.ts'
import type { toolMetadata, ToolMetadata } from './tool-metadata.ts'

interface ToolFields<Input, Name extends string> {
  readonly description: string
  readonly inputSchema: ZodType<Input>
  readonly [toolMetadata]: ToolMetadata & { readonly name: Name }
}

/** A tool of the AI SDK (5, 6 and 7) that journals its calls. */
export interface DefinedTool<Input, Output, Name extends string = string> extends ToolFields<
  Input,
  Name
> {
  readonly execute: (args: Input, options: ToolCallOptions) => Promise<Output>
}

/** A {@link DefinedTool} that streams its output. */
export interface StreamingTool<Input, Output, Name extends string = string> extends ToolFields<
  Input,
  Name
> {
  readonly execute: (args: Input, options: ToolCallOptions) => AsyncGenerator<Output>
}

/** The output of a tool whose `execute` returns `Result`: what it resolves to, or what it yields. */
export type OutputOf<Result> = Result extends AsyncGenerator<infer Value> ? Value : Awaited<Result>

/** The tool whose `execute` returns `Result`. */
export type ToolOf<Input, Result, Name extends string> = 0 extends 1 & Result
  ? DefinedTool<Input, Result, Name>
  : [Result] extends [never]
    ? DefinedTool<Input, Result, Name>
    : [Result] extends [AsyncGenerator<infer Value>]
      ? StreamingTool<Input, Value, Name>
      : DefinedTool<Input, Awaited<Result>, Name>

/** Any tool made with {@link defineTool}. */
export interface AnyDefinedTool {
  readonly description: string
  readonly inputSchema: ZodType
  readonly execute: (args: never, options: ToolCallOptions) => Promise<unknown> | AsyncGenerator
  readonly [toolMetadata]: ToolMetadata
}
