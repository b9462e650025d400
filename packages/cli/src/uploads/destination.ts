import { resolve } from 'node:path';
import { sheetFormats, type Tool } from '@call-attribution/conversions';
import {
  createDataManager,
  createMicrosoftAds,
  type DataManager,
  type DataManagerDestination,
  dataManagerAccepts,
  findGoogleCredentials,
  PushError,
  type PushTarget,
  readMicrosoftCredentials,
} from '@call-attribution/conversions/push';
import type { Args } from '../args.ts';
import { CliError, UsageError } from '../errors.ts';
import { exitOf } from '../exit-codes.ts';
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
export const destinationOf = (args: Args, io: Io): Destination =>
  args.command === 'push microsoft' ? toMicrosoft(args, io) : toGoogle(args, io);

function toMicrosoft(args: Args, io: Io): Destination {
  const file = args.text('credentials');
  const name = args.text('conversion-name') ?? '';
  return {
    tool: sheetFormats['microsoft-ads'],
    kind: 'microsoft',
    name: `microsoft-ads api ${name}`,
    conversionName: name,
    async open() {
      if (file === null)
        throw new UsageError('calls push microsoft needs --credentials FILE', {
          hints: [
            'a JSON file with developerToken, clientId, clientSecret, refreshToken, customerId and accountId',
          ],
        });
      const credentials = await readMicrosoftCredentials(resolve(io.cwd, file));
      const endpoint = otherServer(io);
      return createMicrosoftAds({
        credentials,
        signal: io.signal,
        ...(endpoint === null ? {} : { endpoint }),
      });
    },
  };
}

function toGoogle(args: Args, io: Io): Destination {
  const [account, action] = [args.need('customer'), args.need('conversion-action')];
  const login = args.text('login-customer');
  const phone = args.flag('phone');
  const loginAccount = login === null ? {} : { loginAccount: login };
  return {
    tool: { accepts: dataManagerAccepts({ phone }), title: 'the Data Manager API' },
    kind: 'google',
    name: `google-data-manager ${account.replaceAll('-', '')} ${action}`,
    // The ledger notices a change of the action as it does one of the name.
    conversionName: action,
    open: () => openDataManager({ account, conversionAction: action, ...loginAccount }, io),
  };
}

/** The Data Manager API, with the credentials that gcloud would use. */
export async function openDataManager(destination: DataManagerDestination, io: Io): Promise<DataManager> {
  const credentials = await findGoogleCredentials(io.env);
  const endpoint = otherServer(io);
  return createDataManager({
    credentials,
    destination,
    signal: io.signal,
    ...(endpoint === null ? {} : { endpoint }),
  });
}

/** Another server with the same API, for tests. */
const otherServer = ({ env }: Io): string | null => env.CALLS_PUSH_ENDPOINT || null;

/** An error of the tool with what to do, and its exit status. */
export async function explained<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof PushError)) throw error;
    const { hint, summary: message } = error;
    const hints = hint === undefined ? [] : [hint];
    throw new CliError(message, { exitCode: exitOf(error), hints, cause: error });
  }
}
