// Conversions sent to Google's Data Manager API: credentials, events, batches, and what became of them.
// Start with findGoogleCredentials() and createDataManager(); changesToPush() finds what is new, pushConversions() sends it.
export { changesToPush, type PushChanges } from './changes.ts';
export { findGoogleCredentials, type GoogleCredentials } from './google-credentials.ts';
export {
  createDataManager,
  type DataManager,
  type DataManagerDestination,
  type DataManagerOptions,
  type EventRefusal,
  type RequestDiagnostics,
} from './google-data-manager.ts';
export {
  type ConversionChange,
  type DataManagerEvent,
  dataManagerAccepts,
  dataManagerEvent,
} from './google-events.ts';
export { PushError, type PushProblem } from './problems.ts';
export {
  type PushOptions,
  type PushSummary,
  pushConversions,
  type RefusedCall,
} from './push.ts';
