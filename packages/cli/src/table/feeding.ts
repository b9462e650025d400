import type { CommandSpec } from '../args/command.ts';
import {
  accountOptions,
  badRecordOptions,
  connectionOptions,
  filterOptions,
  warehouseOptions,
} from '../args/options.ts';
import { uploadOptions } from './uploading.ts';

const rules = [
  'value',
  'value-rules',
  'currency',
  'conversion-name',
  'unanswered',
  'first-call-only',
  'once-per-caller',
  'history',
  'click-window',
  'min-age',
  'repeated-hour',
  'ad-user-data',
  'ad-personalization',
];
const conversionOptions = uploadOptions
  .filter(({ name }) => rules.includes(name))
  .map((option) => ({ ...option, group: 'Which calls count' }));

/** The commands that bring conversions to bid tools by themselves, besides feeds of `calls serve`. */
export const feedingCommands: readonly CommandSpec[] = [
  {
    name: 'push',
    summary: 'send conversions to the API of Google Ads or Microsoft Advertising, each once',
    about:
      'Sends what is new since the last run, corrects values that have changed, and takes back calls that no longer count. The ' +
      'ledger keeps what was sent: after a failure the same command is run again. Google finds credentials as gcloud does ' +
      '(GOOGLE_APPLICATION_CREDENTIALS, or gcloud auth application-default login). The exit status is 1 when calls were refused.',
    positionals: [
      {
        name: 'tool',
        text: 'where to send them',
        required: true,
        choices: ['google-data-manager', 'microsoft-ads'],
      },
    ],
    options: [
      { name: 'ledger', value: 'FILE', text: 'notes what was sent', completes: 'file' },
      {
        name: 'customer',
        value: 'ID',
        text: 'Google Ads: account that owns the conversion action, 123-456-7890',
      },
      { name: 'conversion-action', value: 'ID', text: 'Google Ads: ID of the conversion action' },
      {
        name: 'login-customer',
        value: 'ID',
        text: 'Google Ads: manager account of the credentials',
        default: 'the account itself',
      },
      {
        name: 'phone',
        text: 'Google Ads: match by the hashed number of the caller too; needs --ad-user-data granted',
      },
      {
        name: 'credentials',
        value: 'FILE',
        text: 'Microsoft: JSON file with developerToken, clientId, clientSecret, refreshToken, customerId, accountId',
        completes: 'file',
      },
      { name: 'dry-run', text: 'show what would be sent, and send nothing' },
      { name: 'validate-only', text: 'Google Ads: have it checked there, and store nothing' },
      {
        name: 'wait',
        value: 'TIME',
        text: 'Google Ads: wait this long for what becomes of the requests: 5m',
      },
      {
        name: 'request',
        value: 'ID',
        text: 'Google Ads: show what became of an earlier request, and send nothing',
      },
      { name: 'endpoint', value: 'URL', text: 'another server with the same API, for tests' },
      ...conversionOptions,
      ...filterOptions,
      ...warehouseOptions,
      ...accountOptions,
      ...badRecordOptions,
      ...connectionOptions,
    ],
    examples: [
      {
        line: 'calls push google-data-manager --customer 123-456-7890 --conversion-action 987654321 --ledger uploads.ledger --from 90d --value 25 --currency USD',
        text: 'every day: what Google does not know yet',
      },
      {
        line: "calls push microsoft-ads --credentials microsoft.json --ledger uploads.ledger --conversion-name 'Phone lead' --from 90d",
        text: 'the same for Microsoft Advertising',
      },
    ],
    load: async () => (await import('../commands/push.ts')).push,
  },
];
