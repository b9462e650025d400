import type { DataManager, DataManagerDestination } from '@call-attribution/conversions/push';
import type { Args } from '../args.ts';
import { command } from '../command.ts';
import { exitCodes, UsageError } from '../errors.ts';
import { type Io, say } from '../io.ts';
import {
  allowRetractions,
  dryRun,
  googleAction,
  pushedCalls,
  pushLedger,
  ruleOptions,
  uploadedOutcomes,
} from '../options.ts';
import { plural } from '../terminal/numbers.ts';
import type { PushTool } from './runs/push.ts';

/** `calls push google`. */
export const pushGoogle = command({
  name: 'push google',
  summary: 'send conversions to the Data Manager API of Google Ads',
  about:
    'Credentials are found as gcloud does: GOOGLE_APPLICATION_CREDENTIALS, or gcloud auth application-default login.',
  options: {
    ...pushLedger,
    ...googleAction,
    '--login-customer <id>': 'manager account of the credentials (default: the account itself)',
    ...uploadedOutcomes,
    ...dryRun,
    '--validate-only': 'have it checked there, and store nothing',
    ...allowRetractions,
    ...ruleOptions,
    ...pushedCalls,
  },
  needs: ['customer', 'conversion-action'],
  examples: {
    'calls push google --customer 123-456-7890 --conversion-action 987654321 --ledger uploads.ledger --from 90d --value 25USD':
      'every day: what Google does not know yet',
  },
  async run(args, io) {
    const { push } = await import('./runs/push.ts');
    return push(await googleOf(args, io), args, io);
  },
});

/** The Data Manager API, as the options describe it. */
export async function googleOf(args: Args, io: Io): Promise<PushTool> {
  const { checkDestination, dataManagerAccepts } = await import(
    '@call-attribution/conversions/push'
  );
  // `calls get` has these options for other tools, too.
  for (const name of ['customer', 'conversion-action'])
    if (args.text(name) === null)
      throw new UsageError(`--for push-google needs --${name}, as calls push google has it`);

  const { destinationOf } = await import('./runs/push.ts');
  const phone = args.flag('phone');
  const account = args.need('customer');

  // The ledger notices a change of the action as it does one of the name.
  const conversionAction = args.need('conversion-action');
  const login = args.text('login-customer');
  const destination: DataManagerDestination =
    login === null
      ? { account, conversionAction }
      : { account, conversionAction, loginAccount: login };

  // A dry run opens nothing that would notice.
  checkDestination(destination);
  return {
    tool: { accepts: dataManagerAccepts({ phone }), title: 'the Data Manager API' },
    conversionName: conversionAction,
    destination: destinationOf(
      `google-data-manager ${account.replaceAll('-', '')} ${conversionAction}`,
      io,
    ),
    isCheck: args.flag('validate-only'),
    statusCommand: 'calls push status',
    checkRules({ consent }) {
      const rule = typeof consent === 'object' ? consent.adUserData : 'denied';
      const isAgreed =
        rule === 'granted' || (typeof rule === 'object' && rule.granted !== undefined);
      if (phone && !isAgreed)
        throw new UsageError(
          '--phone needs consent: Google takes numbers only of callers who agreed',
          [
            '"consent": { "adUserData": { "granted": "custom_value = \'ads=1\'" }, "adPersonalization": "denied" } in the file of --rules',
          ],
        );
    },
    open: () => openGoogle(destination, io),
  };
}

/** The Data Manager API, with the credentials that gcloud would use. */
async function openGoogle(destination: DataManagerDestination, io: Io): Promise<DataManager> {
  const { createDataManager, findGoogleCredentials } = await import(
    '@call-attribution/conversions/push'
  );
  const { otherServer } = await import('./runs/push.ts');
  const credentials = await findGoogleCredentials(io.env);
  return createDataManager({ credentials, destination, signal: io.signal, ...otherServer(io) });
}

/** `calls push status`: what became of a request to Google. */
export const pushStatus = command({
  name: 'push status',
  summary: 'show what became of a request to Google',
  words: { '<request>': 'ID that calls push has shown' },
  options: {},
  examples: { 'calls push status 1a2b3c': 'the exit status is 1 when something failed' },
  async run(args, io) {
    const request = args.words[0] ?? '';

    // A request is known by its ID alone.
    const target = await openGoogle({ account: '0000000000', conversionAction: '0' }, io);
    const { status, errors, warnings } = await target.diagnose(request);
    say(io, `request ${request}: ${status}`);
    for (const { reason, count } of errors)
      say(io, `  ${plural(count, 'event')} failed: ${reason}`);
    for (const { reason, count } of warnings)
      say(io, `  ${plural(count, 'event')} with a warning: ${reason}`);
    return status === 'FAILED' || status === 'PARTIAL_SUCCESS' ? exitCodes.failed : exitCodes.ok;
  },
});
