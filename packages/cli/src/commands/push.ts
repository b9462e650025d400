import type { Group } from '../command.ts';
import { pushGoogle } from './push-google.ts';
import { pushMicrosoft } from './push-microsoft.ts';

/** `calls push`. */
export const pushGroup: Group = {
  name: 'push',
  summary: 'send conversions to the API of Google Ads or Microsoft Advertising, each once',
  about:
    'Sends what is new since the last run, corrects values that have changed, and takes back calls that no longer count. The ' +
    'ledger keeps what was sent: after a failure the same command is run again. The exit status is 1 when calls were refused.',
  examples: { ...pushGoogle.examples, ...pushMicrosoft.examples },
};
