import { type Client, type Clock, fields, type Version } from '@call-attribution/core';
import { Copy } from '../copy/copy.ts';
import type { AskedAccount } from '../copy/source.ts';
import { createMask, type Reveal } from '../privacy/mask.ts';
import { redactError } from '../privacy/scrub.ts';
import { ToolError } from '../text/failures.ts';

/** An account that a server answers for. */
export interface McpAccount {
  /** What agents call it: letters, digits, dots, dashes and underscores. */
  readonly name: string;
  /** Its client, or a function when it may not be ready yet. No other account uses it. */
  readonly client: Client | (() => Client | Promise<Client>);
  /** Version of the API; needed only when `client` is a function. Default: the client's own, else `v3`. */
  readonly version?: Version;
  /** Time zone of its times. */
  readonly timeZone?: string;
  /** Key of its pseudonyms. Default: that of the server. */
  readonly pseudonymKey?: string | Uint8Array;
}

/** An account whose name may be left out, when it is the only one. */
export type LaneAccount = Omit<McpAccount, 'name'> & { readonly name?: string };

/** What all accounts of a server share. */
export interface SharedOptions {
  readonly reveal: ReadonlySet<Reveal>;
  readonly pseudonymKey?: string | Uint8Array | undefined;
  /** Where copies are kept; in memory when it is left out. */
  readonly copyFolder?: string | undefined;
  readonly clock: Pick<Clock, 'now'> & Partial<Clock>;
}

/** Everything that belongs to one account: its client, masks and copy. Nothing of it is shared with another one. */
export interface Lane extends AskedAccount {
  readonly timeZone?: string | undefined;
}

/** Makes the lane of an account. */
export function createLane(account: LaneAccount, shared: SharedOptions): Lane {
  const { client, timeZone, name = '' } = account;
  const { clock, reveal, copyFolder } = shared;
  const version: Version = account.version ?? (typeof client === 'function' ? 'v3' : client.version);
  const open = typeof client === 'function' ? once(client) : async () => client;
  const key = account.pseudonymKey ?? shared.pseudonymKey;
  const mask = createMask(fields, reveal, key);
  const copy = new Copy({
    ...{ client: open, version, clock, mask, reveal: [...reveal] },
    // Without a key of its own, nothing that is kept could be used by another process.
    place: copyFolder === undefined || key === undefined ? null : { folder: copyFolder, key },
  });
  return { name, version, client: open, mask, copy, ...(timeZone === undefined ? {} : { timeZone }) };
}

/** Makes the client with the first call, and again after a failure: a key may have been set since. */
function once(make: () => Client | Promise<Client>): () => Promise<Client> {
  let made: Promise<Client> | undefined;
  return () => {
    made ??= Promise.resolve()
      .then(make)
      .catch((error: unknown) => {
        made = undefined;
        if (error instanceof ToolError) throw error;
        throw new ToolError({ code: 'no_client', reason: redactError(error) });
      });
    return made;
  };
}
