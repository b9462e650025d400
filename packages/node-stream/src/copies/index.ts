// What is kept next to the calls of a copy: what was proved of it, and what was removed from it on purpose. It loads neither the
// reader nor the client.

export {
  callerHash,
  type ErasedCallers,
  type Erasure,
  isNothing,
  newRemovalKey,
  nothingRemoved,
  openRemovals,
  printRemovals,
  purgeBorder,
  type RemovalNote,
  type Removals,
  removalsEnding,
  withoutCalls,
} from '../removals/removals.ts';
export { withoutRecords, withUnread } from '../sync/state.ts';
export { type CopyVerdict, copyVerdict, describeCopy } from '../sync/verdict.ts';
