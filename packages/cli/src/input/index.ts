// Which accounts, which calls, from the API or from a copy: what commands import in their run. What reads streams is in verdict.ts.

export {
  accountsOfApi,
  chooseAccounts,
  chooseCalls,
  contextOf,
  eachAccount,
  inTurn,
  onlyOf,
  openClient,
  planEach,
} from './accounts.ts';
export { fieldsNamed, fieldsOf, pickFields, readFields, valueOfField } from './fields.ts';
export {
  extensionsNote,
  filterOf,
  leavesExtensions,
  rangeOf,
  readRange,
  sayCounted,
  withinRange,
} from './filter.ts';
