// Conversions sent to Google's Data Manager API or to Microsoft Advertising: credentials, batches,
// and what became of them. Start with createDataManager() or createMicrosoftAds(); conversions()
// and changesToSend() find what is new, pushConversions() sends it.
export { PushError } from './error.ts';
export { findGoogleCredentials, type GoogleCredentials } from './google-credentials.ts';
export {
  checkDestination,
  createDataManager,
  type DataManager,
  type DataManagerDestination,
  type DataManagerOptions,
  dataManagerAccepts,
  type RequestDiagnostics,
} from './google-data-manager.ts';
export type { SendingOptions } from './http.ts';
export {
  createMicrosoftAds,
  type MicrosoftAdsOptions,
  type MicrosoftCredentials,
  readMicrosoftCredentials,
} from './microsoft.ts';
export {
  type ChangeRefusal,
  type PushOptions,
  type PushSummary,
  type PushTarget,
  pushConversions,
  type RefusedCall,
  type SendOptions,
} from './push.ts';
