// What is kept next to the calls of a copy: what was proved of it, and the lines of a ledger. It
// loads neither the reader nor the client.

export type { CopyScope } from '@call-attribution/core';
export { copyVerdict } from '../sync/copy-verdict.ts';
export { withoutRecords, withUnread } from '../sync/state.ts';
export {
  type Described,
  deliveredOf,
  describe,
  missingOf,
  proofOf,
  type Verdict,
} from '../verdict.ts';
export { withoutCalls } from './without-calls.ts';
