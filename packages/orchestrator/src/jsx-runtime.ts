// For `"jsxImportSource": "@smithers/orchestrator"`.
export { Fragment, jsx, jsxs, type JSX } from '@smithers/workflow/jsx-runtime'
