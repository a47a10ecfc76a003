/** A reader for each option name. The reader of a group has `fields` of its own. */
export interface OptionFields {
  readonly [name: string]: OptionReader
}

/** Returns the value to use, or throws `INVALID_INPUT` naming the option. `all` has every option of the call. */
export interface OptionReader {
  (value: unknown, name: string, all: OptionFields): unknown
  readonly fields?: OptionFields
  readonly required?: boolean
}
