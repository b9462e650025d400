import { type Client, type Clock, fields, type Version } from '@call-attribution/core';
import type { SyncStatus } from '@call-attribution/node-stream/status';
import type { MirrorPlace } from '../mirror/copy-key.ts';
import type { Mirror, MirrorHost } from '../mirror/mirror.ts';
import { createRecordMask } from '../privacy/mask-record.ts';
import { createMasks, type Reveal } from '../privacy/masking.ts';
import { redactError } from '../privacy/patterns.ts';
import { ApiReads } from '../source/api-reads.ts';
import type { ApiAccount } from '../source/parts.ts';
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
  /** Its id in the local copy. Default: the id that the calls name. */
  readonly id?: string;
}

/** An account whose name may be left out, when it is the only one. */
export type LaneAccount = Omit<McpAccount, 'name'> & { readonly name?: string };

/** What all accounts of a server share. */
export interface SharedOptions {
  readonly reveal: ReadonlySet<Reveal>;
  readonly pseudonymKey?: string | Uint8Array | undefined;
  /** How the copies are doing; null without copies. */
  readonly copies: SyncStatus | null;
  readonly clock: Pick<Clock, 'now'>;
  log(line: string): void;
}

/** Everything that belongs to one account: its client, masks, reads and copy. Nothing of it is shared with another one. */
export interface Lane extends ApiAccount {
  readonly timeZone?: string | undefined;
  /** Keeps the local copy; null without one. Its code is loaded when it is first needed. */
  readonly mirror: Promise<Mirror> | null;
}

/** Makes the lane of an account. `copy`: where the copy is kept. */
export function createLane(account: LaneAccount, shared: SharedOptions, copy: MirrorPlace | null): Lane {
  const { client, timeZone, name = '' } = account;
  const { log, clock, reveal } = shared;
  const version: Version = account.version ?? (typeof client === 'function' ? 'v3' : client.version);
  const open = typeof client === 'function' ? once(client) : async () => client;
  // All accounts of a copy have its key: it was made with it.
  const masks = createMasks(copy?.key ?? account.pseudonymKey ?? shared.pseudonymKey);
  const mask = createRecordMask(fields, { reveal, masks });
  const host = { client: open, version, log, clock, mask, account: account.id, name, copies: shared.copies };
  return {
    name,
    version,
    client: open,
    mask,
    reads: new ApiReads(open, clock),
    ...(timeZone === undefined ? {} : { timeZone }),
    mirror: copy && openMirror(copy, host),
  };
}

/** Starts to keep a copy, after the first messages of the client. */
async function openMirror(place: MirrorPlace, host: MirrorHost): Promise<Mirror> {
  await new Promise((resolve) => setImmediate(resolve));
  const { Mirror } = await import('../mirror/index.ts');
  const mirror = new Mirror(place, host);
  mirror.start();
  return mirror;
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
