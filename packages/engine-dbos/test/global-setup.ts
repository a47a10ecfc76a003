// The fixture of the package whose server this is: one PostgreSQL for all tests, or the reason why there is none.
export { setup, teardown } from '../../log-postgres/test/global-setup.ts'
