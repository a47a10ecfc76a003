// For `"jsxImportSource": "@smithers/orchestrator"` in development mode.
export { Fragment, jsxDEV, type JSX } from '@smithers/workflow/jsx-dev-runtime'
