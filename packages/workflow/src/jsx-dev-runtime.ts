// What the compiler calls for JSX in development mode (`"jsx": "react-jsxdev"`).
import { jsx } from './jsx-runtime.ts'

export { Fragment } from './jsx-runtime.ts'
export type { JSX } from './jsx-runtime.ts'

/** {@link jsx} with the compiler's notes on where the tag stands, which are not needed here. */
export const jsxDEV: typeof jsx = jsx
