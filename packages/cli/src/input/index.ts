// Which accounts, which calls, from the API or from a copy: what commands import in their run. What reads streams is in verdict.ts.

export { accountsOfApi, chooseAccounts, chooseCalls, onlyOf } from './accounts.ts';
export { contextOf, openClient } from './connect.ts';
export { eachAccount, inTurn, planEach, ready } from './each-account.ts';
export { fieldsNamed, fieldsOf, pickFields, readFields, valueOfField } from './fields.ts';
export { extensionsNote, filterOf, leavesExtensions, sayCounted, withinRange } from './filter.ts';
export { rangeOf, readRange } from './period.ts';
