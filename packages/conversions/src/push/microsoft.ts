import { redact } from '@call-attribution/core';
import { isJsonObject, type SentRequest } from '@call-attribution/core/http';
import { readJsonInput } from '@call-attribution/core/settings';
import { writeWholeFile } from '@call-attribution/node-stream/files';
import type { z } from 'zod';
import type { LedgerEntry } from '../entry.ts';
import { isoUtc } from '../formats/columns.ts';
import {
  askForToken,
  badDestination,
  endpointOf,
  type Grant,
  keepToken,
  readKeyFile,
  refused,
  type Sending,
  type SendingOptions,
  sendingOf,
  sendSigned,
  type ToolResponse,
} from './http.ts';
import type { ChangeRefusal, PushTarget } from './push.ts';

/** Credentials of Microsoft Advertising. Nothing prints them by accident. */
export interface MicrosoftCredentials {
  /** The fields of the file. */
  key(): object;
  /** Keeps a refresh token that has replaced the one of the file. */
  keep(refreshToken: string): Promise<void>;
}

/**
 * Reads a JSON file with `developerToken`, `clientId`, `clientSecret` (for a web application),
 * `refreshToken`, `customerId` and
 * `accountId`. Microsoft replaces a refresh token when it is used, so the file is written again, readable by its owner only.
 */
export async function readMicrosoftCredentials(file: string): Promise<MicrosoftCredentials> {
  let key = readJsonInput(await keySchema(), readKeyFile(file), `the key file ${file}`);
  return {
    key: () => key,
    async keep(refreshToken) {
      if (key.refreshToken === refreshToken) return;
      key = { ...key, refreshToken };
      await writeWholeFile(file, `${JSON.stringify(key, null, 2)}\n`, { mode: 0o600 });
    },
  };
}

type MicrosoftKey = z.infer<Awaited<ReturnType<typeof keySchema>>>;

/** Other fields of the file stay in it. */
async function keySchema() {
  const { z } = await import('zod');
  const text = z.string().min(1);
  return z.looseObject({
    developerToken: text,
    clientId: text,
    clientSecret: z.string().optional(),
    refreshToken: text,
    customerId: text,
    accountId: text,
  });
}

/** Settings of `createMicrosoftAds`. */
export interface MicrosoftAdsOptions extends SendingOptions {
  /** Whose requests they are, and for which account. */
  readonly credentials: MicrosoftCredentials;
  /** Another server with the same API and its own tokens, for tests. Default: that of Microsoft. */
  readonly endpoint?: string | undefined;
}

const scope = 'https://ads.microsoft.com/msads.manage offline_access';
const service = '/CampaignManagement/v13';

/**
 * Opens Microsoft Advertising for offline conversions: `ApplyOfflineConversions`, and
 * `ApplyOfflineConversionAdjustments` for what was restated or retracted. It cannot only check.
 *
 * @example
 * const target = createMicrosoftAds({ credentials: await readMicrosoftCredentials('microsoft.json')
 * }); await pushConversions(target, changes, { ledger, destination: 'microsoft' });
 */
export function createMicrosoftAds(options: MicrosoftAdsOptions): PushTarget {
  const { credentials, endpoint } = options;
  const sending = sendingOf(options);
  const base = endpointOf(endpoint ?? 'https://campaign.api.bingads.microsoft.com');
  const tokens = endpointOf(endpoint ?? 'https://login.microsoftonline.com');
  const token = keepToken(sending.clock, () => exchange(tokens, credentials, sending));

  const post = async (list: string, items: readonly object[]): Promise<ChangeRefusal[]> => {
    const url = new URL(`${service}/${list}/Apply`, base);
    const body = JSON.stringify({ [list]: items });
    const request: SentRequest = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    };
    const response = await sendSigned(url, request, sending, {
      async headers(renew) {
        const authorization = `Bearer ${await token(renew)}`;
        const { developerToken, customerId, accountId } = credentials.key() as MicrosoftKey;
        return {
          authorization,
          developertoken: developerToken,
          customerid: customerId,
          customeraccountid: accountId,
        };
      },
      refusalOf,
    });
    if (response.status !== 200 || failuresOf(response).length > 0) throw refusalOf(url, response);
    const refusals = refusalsOf(response.body.PartialErrors);
    const nameless = refusals.find(({ index }) => items[index] === undefined);

    // Which conversion it is about is not known, nor whether the others were taken.
    if (nameless) throw refused(url, { ...response, mayBeTaken: true }, nameless.reason);
    return refusals;
  };

  return {
    most: 1_000,
    oneKind: true,
    async send(entries, { validateOnly, now }) {
      if (validateOnly)
        throw badDestination('the check', 'left out: Microsoft Advertising has none');
      const isAddition = entries[0]?.action === 'add';
      const refusals = await post(
        isAddition ? 'OfflineConversions' : 'OfflineConversionAdjustments',
        entries.map((entry) => (isAddition ? conversionOf(entry) : adjustmentOf(entry, now))),
      );
      return { isTaken: true, refusals, requestId: null };
    },
  };
}

const foundBy = ({ click, name, at }: LedgerEntry) => ({
  MicrosoftClickId: click?.id ?? '',
  ConversionName: name,
  ConversionTime: isoUtc(at),
});

function conversionOf(entry: LedgerEntry): object {
  const { value, currency } = entry;
  return {
    ...foundBy(entry),
    ...(value === null ? {} : { ConversionValue: value }),
    ...(value === null || currency === null ? {} : { ConversionCurrencyCode: currency }),
  };
}

function adjustmentOf(entry: LedgerEntry, now: number): object {
  const { action, value, currency } = entry;
  const isWorth = action === 'restate' && value !== null;
  return {
    ...foundBy(entry),
    AdjustmentType: action === 'retract' ? 'Retract' : 'Restate',
    AdjustmentTime: isoUtc(now),
    ...(isWorth ? { AdjustmentValue: value } : {}),
    ...(isWorth && currency !== null ? { AdjustmentCurrencyCode: currency } : {}),
  };
}

async function exchange(
  tokens: URL,
  credentials: MicrosoftCredentials,
  sending: Sending,
): Promise<Grant> {
  const url = new URL('/common/oauth2/v2.0/token', tokens);
  const { clientId, clientSecret = '', refreshToken } = credentials.key() as MicrosoftKey;
  const form = {
    grant_type: 'refresh_token',
    client_id: clientId,
    refresh_token: refreshToken,
    scope,
    ...(clientSecret === '' ? {} : { client_secret: clientSecret }),
  };
  const grant = await askForToken(url, form, sending);
  if (typeof grant.refresh_token === 'string') await credentials.keep(grant.refresh_token);
  return grant;
}

/** The conversions that were refused, by their place in the list. */
function refusalsOf(errors: unknown): ChangeRefusal[] {
  if (!Array.isArray(errors)) return [];
  return errors.filter(isJsonObject).map(({ Index, ErrorCode, FieldPath, Message }) => {
    const reason =
      typeof ErrorCode === 'string' && ErrorCode !== '' ? ErrorCode : redact(String(Message ?? ''));
    return {
      index: typeof Index === 'number' ? Index : -1,
      field: typeof FieldPath === 'string' ? FieldPath : '',
      reason,
    };
  });
}

/** What is wrong with a request as a whole. */
function failuresOf({ body }: ToolResponse): readonly unknown[] {
  return [body.Errors, body.OperationErrors, body.BatchErrors].filter(Array.isArray).flat();
}

function refusalOf(url: URL, response: ToolResponse) {
  const [first] = failuresOf(response);
  return isJsonObject(first)
    ? refused(url, response, first.ErrorCode, first.Message)
    : refused(url, response);
}
