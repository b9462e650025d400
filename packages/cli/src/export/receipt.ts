import type { FieldSpec } from '@call-attribution/core';
import type { Settings } from '@call-attribution/mcp-server/settings';
import { periodOfFilter, type ReceiptFacts, verdictOfCopies } from '@call-attribution/node-stream/receipts';
import type { Args } from '../args/command.ts';
import { UsageError } from '../errors.ts';
import type { Ending } from '../reading/verdict.ts';

/** What the receipt of an export says besides how the reading ended. */
export interface ReceiptAbout {
  /** Address of the API or name of the store, without credentials. */
  readonly source: string | null;
  readonly version: 'v2' | 'v3';
  /** The ID of the account, where the settings know it. */
  readonly account: string | null;
  /** A condition on the calls of a store. */
  readonly where: string | null;
  readonly fields: readonly FieldSpec[] | null;
}

/** Whether the export gets a receipt, and what is known before anything is read. Null without --receipt. */
export function receiptAbout(
  args: Args,
  settings: Settings,
  source: string | null,
  fields: ReceiptAbout['fields'],
): ReceiptAbout | null {
  if (!args.flag('receipt')) return null;
  return {
    source,
    version: settings.apiVersion.value,
    account: settings.account?.id ?? null,
    where: args.text('where'),
    fields,
  };
}

/** Refuses a receipt for what is not one file. */
export function refuseReceipt(args: Args, why: string): void {
  if (args.flag('receipt')) throw new UsageError(`--receipt: ${why}`);
}

/** A reading that has ended: its filter, how it ended, and when, in milliseconds since 1970. */
interface EndedRead {
  readonly request: { readonly filter: string };
  readonly verdict: Ending;
  readonly at: number;
}

/** What `fileSink` is told about the receipt, once the reading has ended; false for none. */
export function receiptMaker(
  about: ReceiptAbout | null,
  read: EndedRead | Promise<EndedRead>,
): false | ((accounts: readonly string[]) => Promise<ReceiptFacts>) {
  if (about === null) return false;
  return async (accounts) => receiptFacts(about, await read, accounts);
}

function receiptFacts(
  { source, version, account, where, fields }: ReceiptAbout,
  { request: { filter }, verdict }: EndedRead,
  accounts: readonly string[],
): ReceiptFacts {
  return {
    source,
    accounts: accounts.length > 0 || account === null ? accounts : [account],
    version,
    filter,
    ...(where === null ? {} : { where }),
    ...periodOfFilter(filter, version),
    fields: fields?.map(({ name }) => name) ?? null,
    // All that a copy has was read, which is proved as far as the copy is.
    verdict: 'copy' in verdict ? verdictOfCopies(verdict.calls, [verdict.copy]) : verdict,
  };
}
