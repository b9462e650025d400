// Conversions sent to Google's Data Manager API or to Microsoft Advertising: credentials, batches,
// and what became of them. Start with createDataManager() or createMicrosoftAds(); conversions()
// and changesToSend() find what is new, pushConversions() sends it.
import { microsoftAds } from '../formats/microsoft.ts';
import type { Tool } from '../sheet-format.ts';
import { dataManagerAccepts } from './google-data-manager.ts';

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

/**
 * The tools that conversions are pushed to, by what `calls get --for` and assistants call them, each
 * with the calls that it takes without options of its own. Whoever adds one adds a line.
 */
export const pushTools = {
  'push-google': { accepts: dataManagerAccepts({ phone: false }), title: 'the Data Manager API' },
  'push-microsoft': microsoftAds,
} satisfies Readonly<Record<string, Tool>>;

/** Names of the tools that conversions are pushed to. */
export type PushToolName = keyof typeof pushTools;
