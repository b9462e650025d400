import { resolve } from 'node:path';
import type {
  DataManager,
  DataManagerDestination,
  PushToolName,
} from '@call-attribution/conversions/push';
import type { Args } from '../args.ts';
import { type Command, command, type Group } from '../command.ts';
import { exitCodes, UsageError } from '../errors.ts';
import { type Io, say } from '../io.ts';
import {
  allowRetractions,
  conversionName,
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
const pushGoogle = command({
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
async function googleOf(args: Args, io: Io): Promise<PushTool> {
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
const pushStatus = command({
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

/** `calls push microsoft`. */
const pushMicrosoft = command({
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
async function microsoftOf(args: Args, io: Io): Promise<PushTool> {
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

/** A tool as its command describes it. */
interface Pushing {
  readonly command: Command;
  toolOf(args: Args, io: Io): Promise<PushTool>;
}

const byName: Readonly<Record<PushToolName, Pushing>> = {
  'push-google': { command: pushGoogle, toolOf: googleOf },
  'push-microsoft': { command: pushMicrosoft, toolOf: microsoftOf },
};

/** The tools that conversions are pushed to, by what `calls get --for` takes. */
export const pushTools: ReadonlyMap<string, Pushing> = new Map(Object.entries(byName));

/** Every command of a push. */
export const pushCommands: readonly Command[] = [
  ...Object.values(byName).map((each) => each.command),
  pushStatus,
];

/** `calls push`. */
export const pushGroup: Group = {
  name: 'push',
  summary: 'send conversions to the API of Google Ads or Microsoft Advertising, each once',
  about:
    'Sends what is new since the last run, corrects values that have changed, and takes back calls that no longer count. The ' +
    'ledger keeps what was sent: after a failure the same command is run again. The exit status is 1 when calls were refused.',
  examples: { ...pushGoogle.examples, ...pushMicrosoft.examples },
};
