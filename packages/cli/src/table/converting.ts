import type { CommandGroup, CommandSpec, OptionSpec } from '../args/command.ts';
import {
  accountOptions,
  badRecordOption,
  connectionOptions,
  copyOptions,
  filterOptions,
  inGroup,
  outputOption,
  replacedInNames,
} from '../args/options.ts';

// Written out here, so that help does not load the formats; a test compares the two.
const sheetNames = [
  'google-ads-calls',
  'google-ads-clicks',
  'microsoft-ads',
  'microsoft-bulk',
  'sa360',
  'skai',
  'marin',
] as const;

const conversionName: OptionSpec = {
  name: 'conversion-name',
  value: 'NAME',
  text: 'name of the conversion action, goal or type, spelled as in the tool',
};

const dryRun: OptionSpec = { name: 'dry-run', text: 'show what there would be, and write and send nothing' };

/** What a conversion is worth, and which calls are one. */
const ruleOptions = inGroup('Which calls count', [
  {
    name: 'value',
    value: 'AMOUNT',
    text: 'value of each conversion, with its currency: 25USD',
    otherNames: ['currency'],
  },
  {
    name: 'rules',
    value: 'FILE',
    text: 'JSON file with more rules: valueRules, unanswered, firstCallOnly, oncePerCaller, clickWindow, minAge, consent',
    completes: 'file',
    otherNames: ['value-rules'],
  },
]);

/** A push reads calls through extensions always, and its ledger knows the days. */
const pushFilter = filterOptions.filter(({ name }) => !['period', 'include-extensions'].includes(name));
const oneAccount = accountOptions.filter(({ name }) => name !== 'all-accounts');

const pushOptions: readonly OptionSpec[] = [
  ...ruleOptions,
  ...pushFilter,
  ...copyOptions,
  ...oneAccount,
  badRecordOption,
  ...connectionOptions,
];

const pushLedger: OptionSpec = {
  name: 'ledger',
  value: 'FILE',
  text: 'notes what was sent; --dry-run and --validate-only need none',
  completes: 'file',
};

/** `calls push`. */
export const pushGroup: CommandGroup = {
  name: 'push',
  summary: 'send conversions to the API of Google Ads or Microsoft Advertising, each once',
  about:
    'Sends what is new since the last run, corrects values that have changed, and takes back calls that no longer count. The ' +
    'ledger keeps what was sent: after a failure the same command is run again. The exit status is 1 when calls were refused.',
  examples: [
    {
      line: 'calls push google-data-manager --customer 123-456-7890 --conversion-action 987654321 --ledger uploads.ledger --from 90d --value 25USD',
      text: 'every day: what Google does not know yet',
    },
    {
      line: "calls push microsoft-ads --credentials microsoft.json --ledger uploads.ledger --conversion-name 'Phone lead' --from 90d",
      text: 'the same for Microsoft Advertising',
    },
  ],
};

/** The commands that bring conversions to bid tools, besides feeds of `calls serve`. */
export const convertingCommands: readonly CommandSpec[] = [
  {
    name: 'sheet',
    summary: 'write the upload sheet of a bid tool: conversions from calls',
    about:
      'Says how many calls are in it, and how many are left out for which reason. With --ledger only what was not written ' +
      'before, and adjustments of what has changed. --min-talk replaces the minimum talk time of the tool.',
    positionals: [
      { name: 'tool', text: 'the tool that takes the sheet', required: true, choices: sheetNames },
    ],
    options: [
      {
        ...outputOption,
        text: 'file to write, or - for stdout; {date} in the name is the day',
        replaces: replacedInNames,
        group: 'Options',
      },
      conversionName,
      {
        name: 'ledger',
        value: 'FILE',
        text: 'remembers what was written: a file, or sqlite:calls.db, postgres://user@host/name or duckdb:calls.duckdb',
        completes: 'file',
        replaces: replacedInNames,
      },
      {
        name: 'left-out',
        value: 'FILE',
        text: 'CSV file to write, with each call that is left out and the reason',
        completes: 'file',
        replaces: replacedInNames,
      },
      dryRun,
      ...ruleOptions,
      ...filterOptions,
      ...copyOptions,
      ...accountOptions,
      badRecordOption,
      ...connectionOptions,
    ],
    examples: [
      {
        line: "calls sheet google-ads-clicks -o clicks.csv --conversion-name 'Phone lead' --value 25USD --from 7d --time-zone America/New_York",
        text: 'a sheet for Google Ads, and how many calls are left out for which reason',
      },
      {
        line: "calls sheet microsoft-ads -o clicks-{date}.csv --ledger uploads.ledger --conversion-name 'Phone lead' --from 90d --time-zone America/New_York",
        text: 'every day: only what was not uploaded before, and adjustments of what has changed',
      },
    ],
    load: async () => (await import('../commands/sheet.ts')).sheet,
  },
  {
    name: 'push google-data-manager',
    summary: 'send conversions to the Data Manager API of Google Ads',
    about:
      'Credentials are found as gcloud does: GOOGLE_APPLICATION_CREDENTIALS, or gcloud auth application-default login.',
    options: [
      pushLedger,
      {
        name: 'customer',
        value: 'ID',
        text: 'account that owns the conversion action: 123-456-7890',
        required: true,
      },
      {
        name: 'conversion-action',
        value: 'ID',
        text: 'ID of the conversion action, a number',
        required: true,
      },
      {
        name: 'login-customer',
        value: 'ID',
        text: 'manager account of the credentials',
        default: 'the account itself',
      },
      {
        name: 'phone',
        text: 'match by the hashed number of the caller too; needs the consent adUserData in --rules',
      },
      dryRun,
      { name: 'validate-only', text: 'have it checked there, and store nothing' },
      { name: 'wait', value: 'DURATION', text: 'wait this long for what becomes of the requests: 5m' },
      ...pushOptions,
    ],
    examples: [
      {
        line: 'calls push google-data-manager --customer 123-456-7890 --conversion-action 987654321 --ledger uploads.ledger --from 90d --value 25USD',
        text: 'every day: what Google does not know yet',
      },
    ],
    load: async () => (await import('../commands/push.ts')).push,
  },
  {
    name: 'push microsoft-ads',
    summary: 'send conversions to Microsoft Advertising',
    options: [
      pushLedger,
      {
        name: 'credentials',
        value: 'FILE',
        text: 'JSON file with developerToken, clientId, clientSecret, refreshToken, customerId, accountId',
        completes: 'file',
      },
      conversionName,
      dryRun,
      ...pushOptions,
    ],
    examples: [
      {
        line: "calls push microsoft-ads --credentials microsoft.json --ledger uploads.ledger --conversion-name 'Phone lead' --from 90d",
        text: 'every day: what Microsoft does not know yet',
      },
    ],
    load: async () => (await import('../commands/push.ts')).push,
  },
  {
    name: 'push status',
    summary: 'show what became of a request to Google',
    positionals: [{ name: 'request', text: 'ID that calls push has shown', required: true }],
    options: [],
    examples: [{ line: 'calls push status 1a2b3c', text: 'the exit status is 1 when something failed' }],
    load: async () => (await import('../commands/push.ts')).pushStatus,
  },
];
