import { resolve } from 'node:path';
import { sheetFormats, type Tool } from '@call-attribution/conversions';
import {
  createDataManager,
  createMicrosoftAds,
  type DataManager,
  dataManagerAccepts,
  findGoogleCredentials,
  PushError,
  type PushTarget,
  readMicrosoftCredentials,
} from '@call-attribution/conversions/push';
import type { Args } from '../args/command.ts';
import { CliError, UsageError } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Io } from '../io.ts';

/** An API that takes conversions, as this command needs to know it. */
export interface Destination {
  readonly tool: Tool & { readonly title: string };
  readonly kind: 'google' | 'microsoft';
  /** What the ledger calls it. */
  readonly name: string;
  /** Conversion name in the rules. */
  readonly conversionName: string;
  /** Opens the API; nothing is sent yet. */
  open(): Promise<PushTarget & Partial<Pick<DataManager, 'diagnose'>>>;
}

/** Where the options say that conversions go. */
export function destinationOf(args: Args, io: Io): Destination {
  const endpoint = args.text('endpoint');
  const to = endpoint === null ? {} : { endpoint };
  if (args.words[0] === 'microsoft-ads') {
    const file = args.text('credentials');
    const name = args.text('conversion-name') ?? '';
    return {
      tool: sheetFormats['microsoft-ads'],
      kind: 'microsoft',
      name: `microsoft-ads api ${name}`,
      conversionName: name,
      async open() {
        if (file === null)
          throw new UsageError('calls push microsoft-ads needs --credentials FILE', {
            hints: [
              'a JSON file with developerToken, clientId, clientSecret, refreshToken, customerId and accountId',
            ],
          });
        const credentials = await readMicrosoftCredentials(resolve(io.cwd, file));
        return createMicrosoftAds({
          credentials,
          signal: io.signal,
          ...to,
          ...(endpoint === null ? {} : { tokenEndpoint: endpoint }),
        });
      },
    };
  }
  const account = needed(
    args,
    'customer',
    'the account that owns the conversion action, such as 123-456-7890',
  );
  const isDiagnosis = args.text('request') !== null;
  const action = isDiagnosis
    ? '0'
    : needed(args, 'conversion-action', 'the ID of the conversion action, a number');
  const phone = args.flag('phone');
  if (phone && args.text('ad-user-data') !== 'granted')
    throw new UsageError(
      '--phone needs --ad-user-data granted: Google takes numbers only of callers who agreed',
    );
  const login = args.text('login-customer');
  return {
    tool: { accepts: dataManagerAccepts({ phone }), title: 'the Data Manager API' },
    kind: 'google',
    name: `google-data-manager ${account.replaceAll('-', '')} ${action}`,
    // The ledger notices a change of the action as it does one of the name.
    conversionName: action,
    async open() {
      const destination = {
        account,
        conversionAction: action,
        ...(login === null ? {} : { loginAccount: login }),
      };
      const credentials = await findGoogleCredentials(io.env);
      return createDataManager({ credentials, destination, signal: io.signal, ...to });
    },
  };
}

function needed(args: Args, name: string, what: string): string {
  const value = args.text(name);
  if (value !== null) return value;
  throw new UsageError(`calls push ${args.words[0]} needs --${name}: ${what}`);
}

/** An error of the tool with what to do, and its exit status. */
export async function explained<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof PushError)) throw error;
    const { problem, hint, summary: message } = error;
    const hints = hint === undefined ? [] : [hint];
    if (
      problem.code !== 'refused' &&
      problem.code !== 'unreachable' &&
      problem.code !== 'unreadable_response'
    )
      throw new UsageError(message, { hints, cause: error });
    const isDenied = problem.code === 'refused' && (problem.status === 401 || problem.status === 403);
    const exitCode =
      problem.code === 'unreachable'
        ? exitCodes.unreachable
        : isDenied
          ? exitCodes.refused
          : exitCodes.failed;
    throw new CliError(message, { exitCode, hints, cause: error });
  }
}
