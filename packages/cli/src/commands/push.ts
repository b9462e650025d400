import { command, type Group } from '../command.ts';
import {
  accounts,
  connection,
  conversionName,
  dryRun,
  only,
  ruleOptions,
  whichCalls,
  without,
} from '../options.ts';

const toGoogle = {
  'calls push google --customer 123-456-7890 --conversion-action 987654321 --ledger uploads.ledger --from 90d --value 25USD':
    'every day: what Google does not know yet',
} as const;

const toMicrosoft = {
  "calls push microsoft --credentials microsoft.json --ledger uploads.ledger --conversion-name 'Phone lead' --from 90d":
    'every day: what Microsoft Advertising does not know yet',
} as const;

/** `calls push`. */
export const pushGroup: Group = {
  name: 'push',
  summary: 'send conversions to the API of Google Ads or Microsoft Advertising, each once',
  about:
    'Sends what is new since the last run, corrects values that have changed, and takes back calls that no longer count. The ' +
    'ledger keeps what was sent: after a failure the same command is run again. The exit status is 1 when calls were refused.',
  examples: { ...toGoogle, ...toMicrosoft },
};

/** A push reads calls through extensions always, and its ledger knows the days. */
const read = {
  ...without(whichCalls, '--period <period>', '--include-extensions'),
  ...only(accounts, '--account <names>'),
  ...connection,
};

const ledger = {
  '--ledger <file>': 'notes what was sent; --dry-run and --validate-only need none',
} as const;

/** `calls push google`. */
export const pushGoogle = command({
  name: 'push google',
  summary: 'send conversions to the Data Manager API of Google Ads',
  about:
    'Credentials are found as gcloud does: GOOGLE_APPLICATION_CREDENTIALS, or gcloud auth application-default login.',
  options: {
    ...ledger,
    '--customer <id>': 'account that owns the conversion action: 123-456-7890',
    '--conversion-action <id>': 'ID of the conversion action, a number',
    '--login-customer <id>': 'manager account of the credentials (default: the account itself)',
    '--phone':
      'match by the hashed number of the caller too; needs the consent adUserData in --rules',
    ...dryRun,
    '--validate-only': 'have it checked there, and store nothing',
    ...ruleOptions,
    ...read,
  },
  needs: ['customer', 'conversion-action'],
  examples: toGoogle,
  async run(args, io) {
    return (await import('../uploads/push.ts')).push(args, io);
  },
});

/** `calls push microsoft`. */
export const pushMicrosoft = command({
  name: 'push microsoft',
  summary: 'send conversions to Microsoft Advertising',
  options: {
    ...ledger,
    '--credentials <file>':
      'JSON file with developerToken, clientId, clientSecret, refreshToken, customerId, accountId',
    ...conversionName,
    ...dryRun,
    ...ruleOptions,
    ...read,
  },
  examples: toMicrosoft,
  async run(args, io) {
    return (await import('../uploads/push.ts')).push(args, io);
  },
});

/** `calls push status`. */
export const pushStatus = command({
  name: 'push status',
  summary: 'show what became of a request to Google',
  words: { '<request>': 'ID that calls push has shown' },
  options: {},
  examples: { 'calls push status 1a2b3c': 'the exit status is 1 when something failed' },
  async run(args, io) {
    return (await import('../uploads/push.ts')).pushStatus(args, io);
  },
});
