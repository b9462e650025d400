import { createHmac, randomBytes } from 'node:crypto';
import { type Client, type Clock, fields, type Version } from '@call-attribution/core';
import { formatNaive, naiveAt } from '@call-attribution/core/time';
import type { SyncStatus } from '@call-attribution/node-stream/status';
import { createView } from '../fields/view.ts';
import type { MirrorHost } from '../mirror/mirror.ts';
import type { MirrorContext } from '../mirror/mirror-source.ts';
import type { MirrorSettings } from '../mirror/options.ts';
import { createMasks, type Reveal } from '../privacy/masking.ts';
import { redactError } from '../privacy/patterns.ts';
import { ApiReads } from '../source/api-reads.ts';
import { ApiSource } from '../source/api-source.ts';
import type { CallSource } from '../source/source.ts';
import { ToolError } from '../text/failures.ts';
import type { ToolSettings } from '../tools/call.ts';
import type { SummarySettings } from './options.ts';

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
  readonly budget: number;
  readonly reveal: readonly Reveal[];
  readonly pseudonymKey?: string | Uint8Array | undefined;
  readonly limits: SummarySettings;
  readonly mirror?: MirrorSettings | undefined;
  /** How the copies are doing; null without copies. */
  readonly copies: SyncStatus | null;
  readonly clock: Pick<Clock, 'now'>;
  log(line: string): void;
}

/** Everything that belongs to one account: its client, masks, reads and copy. Nothing of it is shared with another one. */
export interface Lane {
  readonly name: string;
  readonly settings: ToolSettings;
  close(): Promise<void>;
}

/** Makes the lane of an account. */
export function createLane(account: LaneAccount, shared: SharedOptions): Lane {
  const { client, timeZone, name = '' } = account;
  const { log, clock } = shared;
  const version: Version = account.version ?? (typeof client === 'function' ? 'v3' : client.version);
  const reveal = new Set<Reveal>(shared.reveal);
  const open = typeof client === 'function' ? once(client) : async () => client;
  const view = createView(fields, {
    reveal,
    masks: createMasks(account.pseudonymKey ?? shared.pseudonymKey),
  });
  const reads = new ApiReads(open, version, shared.limits, clock);
  const api = new ApiSource({ client: open, reads, fields, version, view, clock });
  const host = {
    client: open,
    version,
    log,
    clock,
    view,
    reveal,
    timeZone,
    account: account.id,
    name,
    copies: shared.copies,
  };
  const mirror = shared.mirror && mirrorOver(api, shared.mirror, host);
  return {
    name,
    settings: {
      version,
      client: open,
      source: mirror?.source ?? (async () => api),
      hasMirror: mirror !== undefined,
      cursorKey: cursorKeyFrom(account.pseudonymKey ?? shared.pseudonymKey),
      fields,
      reveal,
      view,
      budget: shared.budget,
      clock,
      today: () => formatNaive(naiveAt(clock.now(), timeZone ?? 'UTC')).slice(0, 10),
      ...(timeZone === undefined ? {} : { timeZone }),
    },
    close: async () => mirror?.close(),
  };
}

/** Starts to keep a copy. Its code is loaded only now, and after the first messages of the client. */
function mirrorOver(
  api: CallSource,
  options: MirrorSettings,
  host: MirrorHost & Omit<MirrorContext, 'mirror' | 'api'>,
): { source(): Promise<CallSource>; close(): Promise<void> } {
  const loaded = new Promise((resolve) => setImmediate(resolve)).then(async () => {
    const { Mirror, MirrorSource } = await import('../mirror/index.ts');
    const mirror = new Mirror(options, host);
    mirror.start();
    return { mirror, source: new MirrorSource({ ...host, mirror, api }) };
  });
  return {
    source: async () => (await loaded).source,
    close: async () => (await loaded).mirror.close(),
  };
}

/** Of the same key as the masks, so that a cursor holds on every process of a server; without one it ends with its process. */
function cursorKeyFrom(key: string | Uint8Array | undefined): string | Uint8Array {
  return key === undefined ? randomBytes(32) : createHmac('sha256', key).update('cursors').digest();
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
