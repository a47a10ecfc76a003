// The built-in tools alone.
export { bash, createBuiltinTools, edit, grep, read, tools, write } from '@smithers/builtin-tools'
