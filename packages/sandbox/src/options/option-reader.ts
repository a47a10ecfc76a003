/** Every option by name, with what reads it; nested ones have `fields` of their own. */
export interface OptionFields {
  readonly [name: string]: OptionReader
}

/** Returns the value to use, or throws `INVALID_INPUT` that names the option. `all` are the options of the whole call. */
export interface OptionReader {
  (value: unknown, name: string, all: OptionFields): unknown
  readonly fields?: OptionFields
  readonly required?: boolean
}
