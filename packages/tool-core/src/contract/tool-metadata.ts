/** What `defineTool` resolved a tool's two flags to. */
export interface ToolMetadata {
  readonly name: string
  /** The tool changes state outside the process. */
  readonly sideEffect: boolean
  /** Running the tool again with the same input is safe. */
  readonly idempotent: boolean
}

/** Where a tool carries its {@link ToolMetadata}: a registered symbol, so that copies of this package agree. */
export const toolMetadata: unique symbol = Symbol.for('smithers.tool.metadata') as never

/**
 * Returns the metadata that `defineTool` attached, or `null` for plain AI SDK tools and everything else. Survives spreading the tool and passing it through `tool()`.
 *
 * @example
 * getDefinedToolMetadata(write) // { name: 'write', sideEffect: true, idempotent: false }
 */
export function getDefinedToolMetadata(value: unknown): ToolMetadata | null {
  if (typeof value !== 'object' || value === null) return null
  const { [toolMetadata]: metadata } = value as { readonly [toolMetadata]?: ToolMetadata }
  return metadata ?? null
}
