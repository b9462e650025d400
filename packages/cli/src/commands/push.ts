import type { Args } from '../args.ts';
import type { Group } from '../command.ts';
import type { Io } from '../io.ts';
import { googleOf, pushGoogle } from './push-google.ts';
import { microsoftOf, pushMicrosoft } from './push-microsoft.ts';
import type { PushTool } from './runs/push.ts';

/** The tools that conversions are pushed to, by what `calls get --for` takes. */
export const pushTools: ReadonlyMap<string, (args: Args, io: Io) => Promise<PushTool>> = new Map([
  ['push-google', googleOf],
  ['push-microsoft', microsoftOf],
]);

/** `calls push`. */
export const pushGroup: Group = {
  name: 'push',
  summary: 'send conversions to the API of Google Ads or Microsoft Advertising, each once',
  about:
    'Sends what is new since the last run, corrects values that have changed, and takes back calls that no longer count. The ' +
    'ledger keeps what was sent: after a failure the same command is run again. The exit status is 1 when calls were refused.',
  examples: { ...pushGoogle.examples, ...pushMicrosoft.examples },
};
