import { resolve } from 'node:path';
import type { Args } from '../args.ts';
import { command } from '../command.ts';
import { UsageError } from '../errors.ts';
import type { Io } from '../io.ts';
import {
  allowRetractions,
  conversionName,
  dryRun,
  pushedCalls,
  pushLedger,
  ruleOptions,
  uploadedOutcomes,
} from '../options.ts';
import type { PushTool } from './runs/push.ts';

/** `calls push microsoft`. */
export const pushMicrosoft = command({
  name: 'push microsoft',
  summary: 'send conversions to Microsoft Advertising',
  options: {
    ...pushLedger,
    '--credentials <file>':
      'JSON file with developerToken, clientId, clientSecret, refreshToken, customerId, accountId',
    ...conversionName,
    ...uploadedOutcomes,
    ...dryRun,
    ...allowRetractions,
    ...ruleOptions,
    ...pushedCalls,
  },
  examples: {
    "calls push microsoft --credentials microsoft.json --ledger uploads.ledger --conversion-name 'Phone lead' --from 90d":
      'every day: what Microsoft Advertising does not know yet',
  },
  async run(args, io) {
    const { push } = await import('./runs/push.ts');
    return push(await microsoftOf(args, io), args, io);
  },
});

/** Microsoft Advertising, as the options describe it. */
export async function microsoftOf(args: Args, io: Io): Promise<PushTool> {
  const { sheetFormats } = await import('@call-attribution/conversions');
  const { destinationOf, otherServer } = await import('./runs/push.ts');
  const name = args.text('conversion-name') ?? '';
  return {
    tool: sheetFormats['microsoft-ads'],
    conversionName: name,
    destination: destinationOf(`microsoft-ads api ${name}`, io),
    isCheck: false,
    statusCommand: null,
    checkRules() {},
    async open() {
      const { createMicrosoftAds, readMicrosoftCredentials } = await import(
        '@call-attribution/conversions/push'
      );
      const file = args.text('credentials');
      if (file === null)
        throw new UsageError('calls push microsoft needs --credentials FILE', [
          'a JSON file with developerToken, clientId, clientSecret, refreshToken, customerId and accountId',
        ]);

      const credentials = await readMicrosoftCredentials(resolve(io.cwd, file));
      return createMicrosoftAds({ credentials, signal: io.signal, ...otherServer(io) });
    },
  };
}
