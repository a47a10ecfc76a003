// The built-in tools alone (S2 §Import).
export { bash, createBuiltinTools, edit, grep, read, tools, write } from '@smithers/builtin-tools'
